import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MUTANTS } from "../../simulate/mutants.ts";
import { repeatHistories } from "./histories/repeat.ts";

const HISTORIES = 6;

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterAll(() => {
  vi.useRealTimers();
});

describe("the pool object", () => {
  it(`answers like the state machine through ${HISTORIES} hostile histories, evicted between any two calls`, async () => {
    const done = await repeatHistories(HISTORIES);
    expect(done.calls).toBeGreaterThan(HISTORIES * 50);
    expect(done.evictions).toBeGreaterThan(HISTORIES * 5);
    expect(done.plans).toBeGreaterThan(HISTORIES / 4);
    expect(done.grants).toBeGreaterThan(HISTORIES);
  });

  it.each(["any agent holds a leased build", "a release counts as an attempt", "the fence is ignored"])(
    "does not answer like a machine in which %s",
    async (name) => {
      const { rules } = MUTANTS.find((mutant) => mutant.name === name)!;
      await expect(repeatHistories(HISTORIES, rules)).rejects.toThrow(/^history \d+, \w+: expected/);
    },
  );
});
