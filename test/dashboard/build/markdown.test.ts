import { describe, expect, it } from "vitest";
import { toHtml } from "../../../src/dashboard/build/client/markdown.ts";

describe("a build summary", () => {
  it("renders tables, lists and code", () => {
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
  ])("renders no markup for %s", (text) => {
    expect(toHtml(text)).not.toMatch(/<(script|img)|href="(javascript|data):|<[^>]*\son\w+=/i);
  });

  it("marks links as nofollow", () => {
    expect(toHtml("[x](https://a.example)")).toContain('rel="noopener noreferrer nofollow"');
  });
});
