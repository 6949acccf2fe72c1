import { describe, expect, it } from "vitest";
import { type Figure, judge, sorted } from "../bench/gate/figure.ts";

const ratio = (value: number): Figure => ({ own: value * 7, floor: 7 });
const count = (value: number): Figure => ({ own: value, floor: null });

describe("the benchmark gate", () => {
  it.each([
    [2.31, "worse"],
    [2.29, "same"],
    [2, "same"],
    [1.71, "same"],
    [1.69, "better"],
  ])("compares a ratio of %s with a stored 2: %s", (value, verdict) => {
    expect(judge(ratio(value), 2)).toBe(verdict);
  });

  it.each([
    [49, "worse"],
    [48, "same"],
    [47, "better"],
  ])("compares %s rows with a stored 48: %s", (value, verdict) => {
    expect(judge(count(value), 48)).toBe(verdict);
  });

  it("stores the median of an odd number of figures", () => {
    expect(sorted([ratio(3), ratio(1), ratio(2)])[1]).toEqual(ratio(2));
  });
});
