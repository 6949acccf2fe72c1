import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorRank, findExcerpt, findFailedLine, type LogLine } from "../../../src/domain/failure/error-lines.ts";
import { ENDINGS, ORDINARY } from "./real-endings.ts";

const linesOf = (texts: string[]): LogLine[] => {
  let offset = 0;
  return texts.map((text) => {
    const line = { offset, text };
    offset += new TextEncoder().encode(text).length + 1;
    return line;
  });
};

describe("a line of a log", () => {
  it.each([
    "AssertionError: expected 118.99 to be 119",
    "\x1b[31mTypeError: x is not a function\x1b[0m",
    "src/cart.ts(41,5): error TS2322: Type 'string' is not assignable",
    "error[E0308]: mismatched types",
    "java.lang.IllegalStateException: not open",
    "fatal: not a git repository",
    "panic: runtime error: index out of range",
    "thread 'main' panicked at src/main.rs:4:5",
    "##[error]Process completed with exit code 1.",
    "::error file=app.js,line=1::Missing semicolon",
    "E       assert 118.99 == 119",
    "main.c:3:1: error: expected ';' before '}' token",
    "10% done\r50% done\rError: it broke",
  ])("%j names the cause", (line) => expect(errorRank(line)).toBe(3));

  it.each(["FAIL src/cart.test.ts", "--- FAIL: TestCart (0.00s)", "  ✕ rounds once", "not ok 3 - rounds once"])(
    "%j names the part that failed",
    (line) => expect(errorRank(line)).toBe(2),
  );

  it("has the lowest rank if it is only red", () => expect(errorRank("\x1b[1;31mdeprecated here\x1b[0m")).toBe(1));

  it.each([
    "PASS src/price.test.ts",
    "0 errors, 0 warnings",
    "Tests: 0 failed, 12 passed",
    "an ErrorBoundary is mounted",
    "\x1b[31m\x1b[0mnothing of it is red",
    "warning: unused variable `error: x`",
    "downloading error-lines.ts",
    "",
  ])("%j contains no error", (line) => expect(errorRank(line)).toBe(0));
});

describe("the excerpt of a step's output", () => {
  it("is the first line of the highest rank, with three around it, and names the others", () => {
    const texts = ["FAIL cart", "one", "two", "three", "Error: first", "four", "five", "six", "seven", "Error: second"];
    const lines = linesOf(texts);
    expect(findExcerpt(lines)).toEqual({
      lines: lines.slice(1, 8),
      at: 3,
      errors: [lines[4]?.offset, lines[9]?.offset],
    });
  });

  it("is the last nonempty lines if none contains an error", () => {
    const found = findExcerpt(linesOf(["one", "two", "three", "four", "five", "", "  ", "\x1b[0m"]));
    expect(found).toMatchObject({ at: 3, errors: [] });
    expect(found?.lines.map(({ text }) => text)).toEqual(["two", "three", "four", "five"]);
    expect(findExcerpt(linesOf(["", " "]))).toBeNull();
    expect(findExcerpt([])).toBeNull();
  });

  it("is short and plain for any output", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 600 }),
      fc.constantFrom("Error: x", `\x1b]8;;javascript:alert(1)\x07Error: ${"y".repeat(5000)}`, "\x1b[31mred"),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
        const lines = linesOf(texts.map((one) => one.replaceAll("\n", " ")));
        const found = findExcerpt(lines);
        if (!found) return;
        expect(found.lines.length).toBeLessThanOrEqual(7);
        expect(found.errors.length).toBeLessThanOrEqual(50);
        for (const line of found.lines) {
          expect(line.text.length).toBeLessThanOrEqual(500);
          expect(line.text).not.toMatch(/[\x00-\x08\x1b\x7f]/);
        }
        const { offset } = found.lines[found.at] as LogLine;
        if (found.errors.length > 0) expect(offset).toBe(found.errors[0]);
      }),
    );
  });
});

describe("the failed line in lists", () => {
  it.each([
    ["names the cause", "FAIL cart.test.ts\nError: expected 118.99\n  at cart.ts:41\n", "Error: expected 118.99"],
    ["is without colours", "\x1b[31mError: red\x1b[0m\r\n", "Error: red"],
    ["is null where only context would be shown", "one\ntwo\n", null],
    ["is null for an empty log", "", null],
    ["is short", `Error: ${"x".repeat(1000)}`, `Error: ${"x".repeat(193)}`],
  ])("%s", (_name, log, line) => {
    expect(findFailedLine(log)).toBe(line);
  });

  it.each(Object.entries(ENDINGS))("says why %s fails", (_program, ending) => {
    const [, line] = /^>>(.*)$/m.exec(ending) ?? [];
    expect(findFailedLine(`$ run\n${ending.replace(/^>>/m, "")}\n`)).toBe(line?.trim());
  });

  it.each(ORDINARY.split("\n"))("is not %j", (line) => expect(findFailedLine(line)).toBeNull());

  it("never ends with an incomplete character", () => {
    expect(findFailedLine(`Error: ${"x".repeat(192)}\u{1f600}`)?.isWellFormed()).toBe(true);
  });
});
