import { describe, expect, it } from "vitest";
import type { NewAgent } from "../../../src/domain/pool/commands.ts";
import { RULES } from "../../../src/domain/pool/rules.ts";
import { FAULTS } from "../../simulate/faults.ts";
import { History } from "../../simulate/history.ts";
import { INVARIANTS } from "../../simulate/invariants.ts";
import { MUTANTS } from "../../simulate/mutants.ts";
import { simulate, testMutants } from "../../simulate/parallel.ts";
import { SimPool } from "../../simulate/pool.ts";
import { failureReport, replay } from "../../simulate/replay.ts";
import { runHistory } from "../../simulate/run.ts";
import { ACTOR, ORG } from "../../simulate/simulator.ts";

/* `npm run simulate -- --seed 1 --history I` prints the trace of a failing history. */
const SEED = 1;

/** `npm run simulate` runs as many as one likes. */
it("holds every invariant through 1,500 hostile histories", { timeout: 300_000 }, async () => {
  const { histories, commands, faults, failures } = await simulate(SEED, 1_500);
  expect(failures).toEqual([]);
  expect(histories).toBe(1_500);
  expect(commands).toBeGreaterThan(300_000);
  expect(Object.keys(faults).sort()).toEqual(Object.keys(FAULTS).sort());
  for (const count of Object.values(faults)) expect(count).toBeGreaterThan(50);
});

/** Mutants that are seen late, and where: looking begins there. A wrong number only makes the search longer. */
const SEEN_LATE = {
  "versions count on from the stored one only": 2532,
  "a deadline that only the socket remembers is forgotten": 1290,
  "an older head ends the build of a newer one": 711,
  "a retry keeps what stands behind a failure": 647,
  "a lost socket gives no more time": 601,
  "that a build waits counts as its end": 586,
  "failure() holds for a canceled need": 469,
  "a room is not free after its agent was removed": 443,
  "the time of a gate is forgotten": 431,
  "a group has the limit of the job that comes": 361,
  "failure() does not see behind a dropped need": 353,
  "a restored pool leases builds before it was compared with D1": 265,
  "a restore revives removed agents": 253,
  "a gate never times out": 243,
  "git hosts are not told again after an attempt that failed": 225,
  "a group has the largest limit": 223,
  "the same plan again is refused": 207,
};

it("sees each mutant break its invariant within 2,000 histories", { timeout: 600_000 }, async () => {
  const results = await testMutants(SEED, 2_000, SEEN_LATE);
  expect(results.length).toBeGreaterThanOrEqual(160);
  expect(results.filter(({ killedBy }) => killedBy === null)).toEqual([]);
  expect(results.map(({ mutant }) => mutant.name)).toEqual(expect.arrayContaining(Object.keys(SEEN_LATE)));
});

describe("the checks that no rule can break", () => {
  const newAgent = (id: string, orgId = ORG): NewAgent => {
    const skills = { platform: 2, canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true };
    return { id, orgId, name: id, tokenHash: `hash of ${id}`, actor: ACTOR, ...skills };
  };

  it("see a build that two agents hold (invariant 1)", () => {
    const pool = new SimPool(ORG, RULES, () => {});
    pool.call(0, "registerAgent", newAgent("a1"));
    pool.state.index.holding.set("a2", "b1");
    expect(() => pool.call(0, "sweep", null)).toThrow("invariant 1 ");
  });

  it("see an agent of another organization (invariant 14)", () => {
    const pool = new SimPool(ORG, RULES, () => {});
    expect(() => pool.call(0, "registerAgent", newAgent("a1", "other"))).toThrow("invariant 14 ");
  });
});

describe("the trace of a history", () => {
  /** The first history in which a mutant breaks its invariant. */
  const failing = (name: string) => {
    const mutant = MUTANTS.find((one) => one.name === name)!;
    for (let index = 0; ; index++) {
      const failure = runHistory(new History(SEED, index, mutant.rules), index);
      if (failure?.invariant === mutant.breaks) return { seed: SEED, index, mutant };
    }
  };

  it("of a mutant ends with its invariant, its title and the command that replays it", () => {
    const id = failing("a lease ends ten seconds early");
    const report = failureReport(id);
    expect(report.at(-2)).toContain(`invariant 5 (${INVARIANTS[5]})`);
    expect(report.at(-1)).toBe(
      `Replay: npm run simulate -- --seed 1 --history ${id.index} --mutant "a lease ends ten seconds early"`,
    );
    expect(report.length).toBeLessThanOrEqual(33);
    expect(report.at(-3)).toMatch(/=> \(violation\) +\| .*b\d+ \w+ -> \w+.*; lease #\d+ of a\d+ ends$/);
  });

  it("names builds, agents and fences by short names, and every injected fault", () => {
    const lines: string[] = [];
    const history = new History(SEED, 1, MUTANTS[0]!.rules);
    runHistory(history, 1);
    replay({ seed: SEED, index: 1, mutant: MUTANTS[0]! }, (line) => lines.push(line));
    const faults = [...history.simulator.faults.values()].reduce((sum, count) => sum + count, 0);
    expect(lines.filter((line) => line.includes("  ! "))).toHaveLength(faults);
    expect(lines.join("\n")).toMatch(/ [bj]\d queued -> assigned; lease #1 for a\d of 30 s(;|$)/m);
    expect(lines.join("\n")).not.toMatch(/\d{13}/);
  });

  it("as JSON leaves nothing out", () => {
    const lines: string[] = [];
    replay({ seed: SEED, index: 3 }, (line) => lines.push(line), { json: true });
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed.filter(({ command }) => command)).toHaveLength(parsed.filter(({ answer }) => answer).length);
    expect(parsed[0]).toMatchObject({ command: "registerAgent", input: { id: "a1" } });
    expect(parsed.find(({ changes }) => changes)?.changes[0]).toHaveProperty("kind");
  });
});
