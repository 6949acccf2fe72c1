import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOfFile, isBase64 } from "../../src/domain/variable-value.ts";

describe("the bytes of a file", () => {
  it("are its text in UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(Buffer.from(bytesOfFile({ encoding: "text", text })).toString("utf8")).toBe(text);
      }),
    );
  });

  it("are its decoded base64, in lines of any length and kind", () => {
    const breaks = fc.constantFrom("", "\n", "\r\n", " ");
    fc.assert(
      fc.property(fc.uint8Array(), fc.integer({ min: 1, max: 80 }), breaks, (bytes, width, end) => {
        const lines =
          Buffer.from(bytes)
            .toString("base64")
            .match(new RegExp(`.{1,${width}}`, "g")) ?? [];
        const text = lines.map((line: string) => line + end).join("");
        expect(isBase64(text)).toBe(true);
        expect(Buffer.from(bytesOfFile({ encoding: "base64", text }))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it("are rejected if a character is missing, doubled or replaced", () => {
    const of = fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    fc.assert(
      fc.property(of, fc.nat(), fc.constantFrom("", "%", "-", "AA", "\0", "é"), (text, at, other) => {
        const place = at % text.length;
        const wrong = text.slice(0, place) + other + text.slice(place + 1);
        expect(isBase64(wrong)).toBe(false);
        expect(() => bytesOfFile({ encoding: "base64", text: wrong })).toThrow("it is not base64");
      }),
    );
  });
});
