import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_BACK_OFF, reopenDelay, retryDelay } from "../../../src/agent/wire/back-off.ts";
import { comeBackDelay, isAway } from "../../../src/protocol/coming-back.ts";

const AGENTS = 40;
const random = fc.double({ min: 0, max: 1, noNaN: true });

/** Returns the largest number of these times within one second. */
const peak = (times: number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));

/** Random numbers for 40 agents, evenly spread. */
const randoms = Array.from({ length: AGENTS }, (_, n) => (n + 0.5) / AGENTS);
const failed = { retry: 0, retryAfter: null, isCut: false, backOff: DEFAULT_BACK_OFF };
const cut = { opened: true, isCut: true, status: null, retryAfter: null, failures: 0, backOff: DEFAULT_BACK_OFF };

describe("agents that lost the service at the same time", () => {
  it.each([
    ["cut long polls", (one: number) => retryDelay({ ...failed, isCut: true, random: one }), 2],
    ["cut sockets", (one: number) => reopenDelay({ ...cut, random: one }), 2],
    [
      "calls rejected with Retry-After: 5",
      (one: number) => retryDelay({ ...failed, retryAfter: 5_000, random: one }),
      8,
    ],
    [
      "sockets rejected with Retry-After: 5",
      (one: number) => reopenDelay({ ...cut, retryAfter: 5_000, random: one }),
      8,
    ],
  ])("return at different times: %s", (_, delay, most) => {
    expect(peak(randoms.map(delay))).toBeLessThanOrEqual(most);
  });

  it("wait at least as long as Retry-After says, and spread out more with each repeat", () => {
    fc.assert(
      fc.property(fc.nat(20), fc.integer({ min: 1, max: 600_000 }), random, (retry, retryAfter, one) => {
        const wait = retryDelay({ ...failed, retry, retryAfter, random: one });
        expect(wait).toBeGreaterThanOrEqual(retryAfter);
        expect(wait).toBeLessThanOrEqual(retryAfter + Math.max(retryAfter, DEFAULT_BACK_OFF.max));
        expect(retryDelay({ ...failed, retry: retry + 1, retryAfter, random: one })).toBeGreaterThanOrEqual(wait);
      }),
    );
    const spread = (retry: number) =>
      retryDelay({ ...failed, retry, retryAfter: 5_000, random: 1 }) -
      retryDelay({ ...failed, retry, retryAfter: 5_000, random: 0 });
    expect([0, 1, 2, 9].map(spread)).toEqual([5_000, 10_000, 20_000, 60_000]);
  });

  it("are all back after half a minute", () => {
    fc.assert(
      fc.property(random, (one) => {
        expect(comeBackDelay(one)).toBeGreaterThanOrEqual(1_000);
        expect(comeBackDelay(one)).toBeLessThanOrEqual(31_000);
      }),
    );
    expect([1000, 1001, 1006, 1008, 1012, 4401].filter(isAway)).toEqual([1001, 1006, 1012]);
  });
});

describe("a socket", () => {
  it("that the agent closed, or that never opened, is retried soon", () => {
    expect(reopenDelay({ ...cut, isCut: false, random: 1 })).toBe(1_000);
    expect(reopenDelay({ ...cut, isCut: false, failures: 2, random: 1 })).toBe(4_000);
    expect(reopenDelay({ ...cut, isCut: false, status: 426, random: 1 })).toBe(300_000);
  });
});
