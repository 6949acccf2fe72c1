import { describe, expect, it } from "vitest";
import { formatDay, formatDuration, formatRelative } from "../../../src/dashboard/parts/format.ts";

describe("time formats", () => {
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
  ])("show a duration of %i ms as %s", (milliseconds, words) => {
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
  ])("show a time %i ms ago as %s", (before, words) => {
    expect(formatRelative(1e12 - before, 1e12)).toBe(words);
  });

  it.each([
    ["2026-11-22T00:00:00Z", "today"],
    ["2026-11-22T05:08:00Z", "today"],
    ["2026-11-21T23:59:59Z", "yesterday"],
    ["2026-11-20T23:59:59Z", "2 d ago"],
  ])("show the day of %s as %s", (at, words) => {
    expect(formatDay(Date.parse(at), Date.UTC(2026, 10, 22, 5, 7))).toBe(words);
  });
});
