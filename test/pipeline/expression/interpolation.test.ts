import { describe, expect, it } from "vitest";
import { findSpans } from "../../../src/pipeline/expression/interpolation.ts";

describe("findSpans", () => {
  it.each([
    ["no expression $ {{ }} $HOME ${X}", []],
    ["a ${{ x }} b", ["x"]],
    ["${{x}}${{ y }}", ["x", "y"]],
    ["${{ '}}' }}}", ["'}}'"]],
    ["${{ format('it''s }} {0}', x) }} }}", ["format('it''s }} {0}', x)"]],
    ["${{\n  x\n}}", ["x"]],
    ["${{}}", [""]],
    ["${{ '${{' }}", ["'${{'"]],
  ])("finds the expressions in %j", (text, inner) => {
    const { spans, open } = findSpans(text);
    expect(spans.map((span) => span.inner)).toEqual(inner);
    expect(open).toBeUndefined();
    for (const span of spans) {
      expect(text.slice(span.start, span.end)).toMatch(/^\$\{\{[\s\S]*\}\}$/);
      expect(text.startsWith(span.inner, span.innerStart)).toBe(true);
    }
  });

  it.each([
    ["a ${{ x", 2],
    ["${{ 'it''s }}", 0],
    ["${{ x }} ${{ y }", 9],
  ])("reports the expression in %j as never closed", (text, open) => {
    expect(findSpans(text).open).toBe(open);
  });
});
