import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainText } from "../../src/domain/text.ts";
import { settledLine } from "../../src/protocol/settled-line.ts";

const shown = (line: string): string => plainText(settledLine(line));

describe("the line that a terminal shows", () => {
  it.each([
    ["10% done\r50% done\rError: it broke", "Error: it broke"],
    ["with the line break of Windows\r", "with the line break of Windows"],
    ["error: disk full\r\x1b[0m", "error: disk full"],
    ["error: disk full\x1b[0m\r\r\x1b[0m\r\x1b]8;;\x07\r", "error: disk full"],
    ["error: disk full\r\t", "error: disk full\t"],
    ["error: disk full\r\b\b", "error: disk full"],
    ["50%\r\x1b[K", ""],
    ["50%\r\x1b[2K\x1b[0m", ""],
    ["50%\r   ", "   "],
    ["\r\x1b[0m", ""],
    ["\r", ""],
    ["", ""],
    ["50%\b\b\b60%", "60%"],
    ["building |\b/\b-\bdone", "building done"],
    ["abcd\b\b\bX", "aXcd"],
    ["error: disk full\b\b\b\b", "error: disk full"],
    ["\b\b\ba", "a"],
    ["N\bNA\bAM\bME\bE  _\bx", "NAME  x"],
    ["5\x1b[31m0%\x1b[0m\b\b\b60%", "60%"],
    ["\u{1f600}\b\u{1f680}", "\u{1f680}"],
    ["50%\rbuilding |\b/", "building /"],
  ])("for %j is %j", (line, text) => {
    expect(shown(line)).toBe(text);
  });

  it("is not empty if something was printed and not erased", () => {
    const silent = fc.constantFrom("\r", "\b", "\x1b[0m", "\x1b[1;31m", "\x07", "\x1b]0;title\x07", "\t");
    fc.assert(
      fc.property(fc.array(silent), fc.string({ minLength: 1 }), fc.array(silent), (before, text, after) => {
        const printed = text.replace(/[\x00-\x1f\x7f]/g, "x");
        expect(shown(before.join("") + printed + after.join(""))).toContain(printed);
      }),
    );
  });

  it("is found in one pass, however often the line restarts", () => {
    for (const [again, times] of [
      ["\r", 1 << 20],
      ["\r\x1b[0m", 1 << 16],
      ["\r\b", 1 << 16],
      ["\b", 1 << 16],
    ] as const) {
      expect(shown(`${again.repeat(times)}end`)).toBe("end");
      expect(shown(`end${again.repeat(times)}`)).toBe("end");
    }
  });
});
