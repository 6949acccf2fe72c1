import { describe, expect, it } from "vitest";
import {
  type Attempt,
  chooseOrders,
  findMissed,
  MISSED_RULES,
  type MissedRules,
} from "../../src/githosts/github/missed-deliveries.ts";
import { type MissedLaw, missedHistory } from "./support/missed-simulation.ts";

const NOW = Date.UTC(2026, 0, 10);
const HOUR = 60 * 60_000;

const attempt = (over: Partial<Attempt> = {}): Attempt => ({
  ...{ id: 1, guid: "g", at: NOW - HOUR, isOk: false, code: 503, event: "push", action: null, repositoryId: 7 },
  ...over,
});

const missed = (listed: Attempt[]) => findMissed(listed, new Map(), [], NOW, MISSED_RULES).map(({ guid }) => guid);

const MUTANTS: Record<string, { rules: Partial<MissedRules>; breaks: MissedLaw }> = {
  "an older head after a newer one": { rules: { isSuperseded: () => false }, breaks: "no older head after a newer" },
  "the oldest of each ref": {
    rules: { isSuperseded: (one, other) => other.firstAt < one.firstAt },
    breaks: "every head arrives",
  },
  "more than three tries": { rules: { mostTries: 10 }, breaks: "three tries" },
  "one that arrived": { rules: { hasArrived: () => false }, breaks: "not what arrived" },
};

describe("deliveries that GitHub could not deliver", () => {
  it("arrive with their newest heads, each once, whatever was down", () => {
    const broken: string[] = [];
    let ordered = 0;
    for (let history = 0; history < 1_000; history++) {
      const played = missedHistory(1, history, MISSED_RULES);
      ordered += played.ordered;
      for (const [law, detail] of played.broken) broken.push(`history ${history}, ${law}: ${detail}`);
    }
    expect(broken).toEqual([]);
    expect(ordered).toBeGreaterThan(1_000);
  });

  it.each(Object.entries(MUTANTS))("are tested so that a mutant fails: %s", (_, { rules, breaks }) => {
    const seen = new Set<MissedLaw>();
    for (let history = 0; history < 300 && !seen.has(breaks); history++) {
      for (const law of missedHistory(1, history, { ...MISSED_RULES, ...rules }).broken.keys()) seen.add(law);
    }
    expect([...seen]).toContain(breaks);
  });

  it("are not redelivered if that cannot help", () => {
    expect(missed([attempt()])).toEqual(["g"]);
    expect(missed([attempt(), attempt({ id: 2, at: NOW - 1, isOk: true, code: 202 })])).toEqual([]);
    expect(missed([attempt({ at: NOW - 73 * HOUR })])).toEqual([]);
    for (const code of [400, 401, 410, 413, 415]) expect(missed([attempt({ code })])).toEqual([]);
    for (const event of ["ping", "star", "__proto__", "constructor"]) expect(missed([attempt({ event })])).toEqual([]);
    expect(missed([attempt({ event: "check_run", action: "created" })])).toEqual([]);
    expect(missed([attempt({ event: "check_run", action: "rerequested" })])).toEqual(["g"]);
  });

  it("do not replace those of other repositories and other events", () => {
    const listed = [
      attempt({ guid: "a", repositoryId: 7 }),
      attempt({ guid: "b", repositoryId: 8, at: NOW - 1 }),
      attempt({ guid: "c", event: "check_run", action: "rerequested" }),
      attempt({ guid: "d", event: "check_run", action: "rerequested", at: NOW - 1 }),
    ];
    const known = findMissed(listed, new Map(), [], NOW, MISSED_RULES).map((one) => ({
      ...one,
      ref: one.ref === undefined ? "refs/heads/main" : one.ref,
    }));
    const { again, over } = chooseOrders(known, listed, [], MISSED_RULES);
    expect(again.map(({ guid }) => guid).toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(over).toEqual([]);
  });

  it("wait if their ref is unknown, and above the number of one round", () => {
    const listed = Array.from({ length: 30 }, (_, n) => attempt({ id: n, guid: `g${n}`, at: NOW - HOUR + n }));
    const found = findMissed(listed, new Map(), [], NOW, MISSED_RULES);
    expect(chooseOrders(found, listed, [], MISSED_RULES)).toEqual({ again: [], over: [], left: 30 });
    const known = found.map((one) => ({ ...one, ref: `refs/heads/${one.guid}` }));
    const { again, left } = chooseOrders(known, listed, [], MISSED_RULES);
    expect([again.length, left, again[0]?.guid]).toEqual([20, 10, "g29"]);
  });
});
