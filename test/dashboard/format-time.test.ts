import { describe, expect, it } from "vitest";
import { toHtml } from "../../src/dashboard/client/markdown.ts";
import { formatDuration, formatRelative } from "../../src/dashboard/format-time.ts";

describe("times", () => {
  it.each([
    [0, "<1s"],
    [999, "<1s"],
    [1000, "1s"],
    [59_999, "59s"],
    [64_000, "1m 04s"],
    [3_600_000, "1h 00m"],
    [7_500_000, "2h 05m"],
    [273_600_000, "3d 04h"],
    [-5, "<1s"],
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

describe("a summary", () => {
  it("keeps its tables, lists and code", () => {
    expect(toHtml("| a | b |\n| - | - |\n| 1 | 2 |")).toContain("<td>1</td>");
    expect(toHtml("| a | b |\n| :-: | -: |\n| 1 | 2 |")).toMatch(/<td class="center">1<.*\n<td class="right">2</);
    expect(toHtml("- `x`")).toContain("<li><code>x</code></li>");
  });

  it.each([
    "<script>1</script>",
    '<img src=x onerror="1">',
    "![x](https://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>1</script>)",
    "[x]: javascript:1\n\n[x]",
    '<https://a.example/" onclick="1>',
  ])("makes nothing of %s", (text) => {
    expect(toHtml(text)).not.toMatch(/<(script|img)|href="(javascript|data):|<[^>]*\son\w+=/i);
  });

  it("marks its links as nobody's recommendation", () => {
    expect(toHtml("[x](https://a.example)")).toContain('rel="noopener noreferrer nofollow"');
  });
});
