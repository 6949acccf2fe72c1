import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lengthOn, placeOn, timeAxis } from "../../../src/dashboard/parts/time-axis.ts";

const MINUTE = 60_000;
const time = fc.integer({ min: 0, max: 40 * 24 * 60 * MINUTE });
const shown = fc
  .record({ wait: time, work: time, isLive: fc.boolean(), usual: fc.option(time), hasBegun: fc.boolean() })
  .map(({ wait, work, hasBegun, ...more }) => ({
    ...more,
    queuedAt: 1000,
    startedAt: hasBegun ? 1000 + wait : null,
    until: 1000 + wait + (hasBegun ? work : 0),
  }));

describe("the time axis", () => {
  it("has room for all work, few ticks, and little room for waiting, however long each is", () => {
    fc.assert(
      fc.property(shown, (times) => {
        const axis = timeAxis(times);
        const zero = times.startedAt ?? times.until;
        expect(axis.zero).toBe(zero);
        expect(axis.to).toBeGreaterThanOrEqual(times.until);
        expect(axis.to).toBeGreaterThan(axis.zero);
        expect(axis.zero - axis.from).toBeLessThanOrEqual(0.16 * (axis.to - axis.zero));
        expect(axis.from).toBeGreaterThanOrEqual(Math.min(times.queuedAt, zero));
        expect(axis.ticks[0]).toBe(zero);
        expect(axis.ticks.length).toBeLessThanOrEqual(8);
        for (const tick of axis.ticks) expect(tick).toBeLessThanOrEqual(axis.to);
      }),
    );
  });

  it("keeps ended work in place while a build runs within its usual duration", () => {
    const at = (now: number) =>
      placeOn(timeAxis({ queuedAt: 0, startedAt: 0, until: now, isLive: true, usual: 10 * MINUTE }), MINUTE);
    expect(new Set([2, 3, 5, 9, 9.7].map((minutes) => at(minutes * MINUTE)))).toHaveProperty("size", 1);
    expect(at(40 * MINUTE)).not.toBe(at(2 * MINUTE));
  });

  it("places everything within the chart", () => {
    fc.assert(
      fc.property(shown, time, time, (times, one, other) => {
        const axis = timeAxis(times);
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const end = Number.parseFloat(placeOn(axis, from)) + Number.parseFloat(lengthOn(axis, from, to));
        expect(end).toBeLessThanOrEqual(100.01);
        for (const text of [placeOn(axis, from), lengthOn(axis, from, to)]) expect(text).toMatch(/^\d{1,3}\.\d\d%$/);
      }),
    );
  });
});
