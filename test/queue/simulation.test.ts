import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { NewAgent } from "../../src/queue/commands/commands.ts";
import { RULES } from "../../src/queue/state/rules.ts";
import { FAULTS } from "../simulate/faults.ts";
import firstSeen from "../simulate/first-seen.json" with { type: "json" };
import { History } from "../simulate/history.ts";
import { INVARIANTS } from "../simulate/invariants.ts";
import { MUTANTS } from "../simulate/mutants.ts";
import { simulate, testMutants } from "../simulate/parallel.ts";
import { SimPool } from "../simulate/pool.ts";
import { failureReport, replay } from "../simulate/replay.ts";
import { runHistory } from "../simulate/run.ts";
import { ACTOR, ORG } from "../simulate/simulator.ts";

/* `npm run simulate -- --seed 1 --history I` prints the trace of a failing history. */
const SEED = firstSeen.seed;
const HISTORIES = 300;

/** `npm run simulate` runs any number of histories. */
it(`holds every invariant through ${HISTORIES} hostile histories`, async () => {
  const { histories, commands, faults, failures } = await simulate(SEED, HISTORIES);
  expect(failures).toEqual([]);
  expect(histories).toBe(HISTORIES);
  expect(commands).toBeGreaterThan(60_000);
  expect(Object.keys(faults).sort()).toEqual(Object.keys(FAULTS).sort());
  for (const count of Object.values(faults)) expect(count).toBeGreaterThan(10);
});

it("holds every invariant if a result arrives in the call that ends the build's time", () => {
  expect(runHistory(new History(777, 14_669, RULES), 14_669)).toBeUndefined();
});

/**
 * The search begins where each mutant was first seen. A wrong number makes the search longer, until it costs too much:
 * `npm run simulate -- --mutants --write` renews the numbers.
 */
it("each mutant breaks its invariant, and nine of ten within the same number of histories", async () => {
  const results = await testMutants(SEED, 2_000, firstSeen.histories);
  expect(results.length).toBeGreaterThanOrEqual(216);
  const unseen = results.filter(({ killedBy }) => killedBy === null).map(({ mutant }) => mutant.name);
  expect(unseen, "see `npm run simulate -- --mutants --write`").toEqual([]);
  const names = new Set(results.map(({ mutant }) => mutant.name));
  expect(Object.keys(firstSeen.histories).filter((name) => !names.has(name))).toEqual([]);
  const searched = results.reduce((sum, { histories }) => sum + histories, 0);
  expect(searched, "see `npm run simulate -- --mutants --write`").toBeLessThan(4 * results.length);
  const early = results.filter(({ killedBy }) => killedBy!.history < HISTORIES);
  expect(early.length).toBeGreaterThan(0.9 * results.length);
});

/** In every other history no file has jobs: a build has only its first job. */
it.each([
  "a cancel reaches nothing",
  "the consequences of a hand-out are forgotten",
  "the consequences of a start are forgotten",
  "the consequences of a release are forgotten",
  "the consequences of a result are forgotten",
  "the consequences of a lost lease are forgotten",
  "the end of its only job does not end a build",
  "a build ends when none of its jobs is leased",
  "a build never ends",
  "a build succeeds although its only job failed",
  "a build keeps its place while its only job is in the queue again",
  "a ready job has a place",
  "a semaphore is never free again",
  "a semaphore is not free after a release",
  "a semaphore is not free after a lost lease",
  "there is one try too many",
])("without planned jobs, the simulation still finds: %s", (name) => {
  const { rules } = MUTANTS.find((mutant) => mutant.name === name)!;
  let failure: ReturnType<typeof runHistory>;
  for (let index = 0; index < 60 && !failure; index += 2) {
    const history = new History(SEED, index, rules);
    expect(history.simulator.hasJobs).toBe(false);
    failure = runHistory(history, index);
  }
  expect(failure?.invariant).toEqual(expect.any(Number));
});

describe("the checks for invariants that no rule can break", () => {
  const newAgent = (id: string, orgId = ORG): NewAgent => {
    const skills = { platform: 2, canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true };
    return { id, orgId, name: id, tokenHash: `hash of ${id}`, actor: ACTOR, ...skills };
  };

  it("find a build that two agents hold (invariant 1)", () => {
    const pool = new SimPool(ORG, RULES, () => {});
    pool.call(0, "registerAgent", newAgent("a1"));
    pool.state.index.holding.set("a2", "b1");
    expect(() => pool.call(0, "sweep", null)).toThrow("invariant 1 ");
  });

  it("find an agent of another organization (invariant 14)", () => {
    const pool = new SimPool(ORG, RULES, () => {});
    expect(() => pool.call(0, "registerAgent", newAgent("a1", "other"))).toThrow("invariant 14 ");
  });
});

describe("the trace of a history", () => {
  /** Returns a history in which a mutant breaks its invariant. */
  const failing = (name: keyof typeof firstSeen.histories) => {
    const mutant = MUTANTS.find((one) => one.name === name)!;
    for (let index = firstSeen.histories[name]; ; index++) {
      const failure = runHistory(new History(SEED, index, mutant.rules), index);
      if (failure?.invariant === mutant.breaks) return { seed: SEED, index, mutant: name };
    }
  };

  it("ends with its invariant, its title and the command that replays it, for a mutant", () => {
    const id = failing("a lease ends ten seconds early");
    const report = failureReport(id);
    expect(report.at(-2)).toContain(`invariant 5 (${INVARIANTS[5]})`);
    expect(report.at(-1)).toBe(
      `Replay: npm run simulate -- --seed 1 --history ${id.index} --mutant "a lease ends ten seconds early"`,
    );
    expect(report.length).toBeLessThanOrEqual(33);
    expect(report.at(-3)).toMatch(/=> \(violation\) +\| .*[bj]\d+ \w+ -> \w+.*; lease #\d+ of a\d+ ends$/);
  });

  it("is in docs/invariants.md as its command prints it", () => {
    const shown = readFileSync("docs/invariants.md", "utf8");
    const [, seed, index, mutant] = /--seed (\d+) --history (\d+) --mutant "(.+)"/.exec(shown)!;
    expect(shown).toContain(failureReport({ seed: Number(seed), index: Number(index), mutant }, 11).join("\n"));
  });

  it("has short names for builds, agents and fences, and every injected fault", () => {
    const lines: string[] = [];
    const history = new History(SEED, 1, MUTANTS[0]!.rules);
    runHistory(history, 1);
    replay({ seed: SEED, index: 1, mutant: MUTANTS[0]!.name }, (line) => lines.push(line));
    const faults = [...history.simulator.faults.values()].reduce((sum, count) => sum + count, 0);
    expect(lines.filter((line) => line.includes("  ! "))).toHaveLength(faults);
    expect(lines.join("\n")).toMatch(/ [bj]\d queued -> assigned; lease #1 for a\d of 30 s(;|$)/m);
    expect(lines.join("\n")).not.toMatch(/\d{13}/);
  });

  it("is complete as JSON", () => {
    const lines: string[] = [];
    replay({ seed: SEED, index: 3 }, (line) => lines.push(line), { json: true });
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed.filter(({ command }) => command)).toHaveLength(parsed.filter(({ answer }) => answer).length);
    expect(parsed[0]).toMatchObject({ command: "registerAgent", input: { id: "a1" } });
    expect(parsed.find(({ changes }) => changes)?.changes[0]).toHaveProperty("kind");
  });
});
