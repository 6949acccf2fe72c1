import fc from "fast-check";
import { expect, it } from "vitest";
import { addHistograms, percentile, toHistogram } from "../../../src/domain/history/history.ts";

const spans = fc.array(fc.integer({ min: 0, max: 3 * 86_400_000 }), { minLength: 1, maxLength: 60 });
const share = fc.double({ min: 0, max: 1, noNaN: true });

/** Returns the duration at the nearest rank, by sorting. */
const exact = (all: number[], part: number): number =>
  all.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(all.length * part)) - 1]!;

it("a histogram finds each percentile within 4.5 % of the exact one, except below a millisecond", () => {
  fc.assert(
    fc.property(spans, share, (all, part) => {
      const wanted = exact(all, part);
      const found = percentile(toHistogram(all), part)!;
      expect(Math.abs(found - Math.max(1, wanted))).toBeLessThanOrEqual(wanted * 0.045 + 1);
    }),
  );
});

it("a histogram gives the same result for the sum of parts as for the whole", () => {
  fc.assert(
    fc.property(fc.array(spans, { maxLength: 5 }), (parts) => {
      expect(addHistograms(parts.map(toHistogram))).toEqual(toHistogram(parts.flat()));
    }),
  );
});

it("a percentile grows with the share, and is null without durations", () => {
  fc.assert(
    fc.property(spans, share, share, (all, one, other) => {
      const histogram = toHistogram(all);
      const [less, more] = [Math.min(one, other), Math.max(one, other)];
      expect(percentile(histogram, less)!).toBeLessThanOrEqual(percentile(histogram, more)!);
    }),
  );
  expect(percentile({}, 0.5)).toBe(null);
});
