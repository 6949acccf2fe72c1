import { describe, expect, it } from "vitest";
import { formatDuration, formatRelative } from "../../src/dashboard/format-time.ts";

describe("times", () => {
  it.each([
    [0, "0 ms"],
    [999.9, "999 ms"],
    [1000, "1s"],
    [59_999, "59s"],
    [64_000, "1m 04s"],
    [3_600_000, "1h 00m"],
    [7_500_000, "2h 05m"],
    [273_600_000, "3d 04h"],
    [-5, "0 ms"],
  ])("of %i ms read as %s", (milliseconds, words) => {
    expect(formatDuration(milliseconds)).toBe(words);
  });

  it.each([
    [10_000, "just now"],
    [-10_000, "in a moment"],
    [60_000, "1 min ago"],
    [12 * 60_000, "12 min ago"],
    [3_600_000, "1 h ago"],
    [-3_600_000, "in 1 h"],
    [3 * 86_400_000, "3 d ago"],
  ])("%i ms back are %s", (before, words) => {
    expect(formatRelative(1e12 - before, 1e12)).toBe(words);
  });
});
