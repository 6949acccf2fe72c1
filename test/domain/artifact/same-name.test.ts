import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clashIn, sameName } from "../../../src/domain/artifact/file-list.ts";

describe("names that are the same on some file system", () => {
  it.each([
    ["a", "A"],
    ["\u00e9", "e\u0301"],
    ["É", "e\u0301"],
    ["ß", "ẞ"],
    ["a/b", "A/B"],
    ["a", "a."],
    ["a", "a . ."],
    ["d/x", "d./x"],
    ["f.txt", "f.txt::$DATA"],
    ["d/x", "D::$INDEX_ALLOCATION/x"],
    ["git", "gi\u200dt"],
    ["...", "...."],
  ])("%j and %j clash, whatever the order", (one, other) => {
    expect(clashIn([one, other])).toEqual({ kind: "same", index: 1, other: 0 });
    expect(clashIn([other, one])).toEqual({ kind: "same", index: 1, other: 0 });
    expect(clashIn([one, `x${other}`])).toBeNull();
  });

  it.each([
    ["a", "a/b"],
    ["A", "a/b/c"],
    ["a.", "a/b"],
  ])("%j and %j clash, because one is the other's folder", (name, below) => {
    expect(clashIn([name, below])).toEqual({ kind: "folder", index: 0, other: 1 });
    expect(clashIn([below, name])).toEqual({ kind: "folder", index: 1, other: 0 });
  });

  it.each([
    ["12:30.log", "12:45.log"],
    ["a.b", "a.c"],
    [" a", "a"],
    [".a", "a"],
    ["a/b", "ab"],
    ["a!", "a/b"],
  ])("%j and %j do not clash", (one, other) => expect(clashIn([one, other])).toBeNull());

  it("are found at any position, without false alarms", () => {
    const part = fc.constantFrom("a", "A", "b", "a.", "a-", "b ", "c");
    const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(fc.array(path, { maxLength: 8 }), (paths) => {
        const isClash = (one: string, other: string) => `${sameName(other)}/`.startsWith(`${sameName(one)}/`);
        const slowly = paths.some((one, index) => paths.some((other, at) => at !== index && isClash(one, other)));
        expect(clashIn(paths) !== null).toBe(slowly);
      }),
    );
  });
});
