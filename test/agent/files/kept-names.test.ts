import { describe, expect, it } from "vitest";
import { isBundle, isTarOfBundle, shownPath } from "../../../src/agent/files/file-words.ts";
import { staysWithin } from "../../../src/agent/files/link-rule.ts";

it("folders that are useful only as a whole are recognized by their names' ends", () => {
  expect(["Mill.app", "x.xcresult", "x.dSYM", "app", "x.App", "x.apps"].map(isBundle)).toEqual([
    ...[true, true, true, false, false, false],
  ]);
  expect(["a/Mill.app.tar", "Mill.app", "x.tar", "x.tar.gz"].map(isTarOfBundle)).toEqual([true, false, false, false]);
});

it("a path in a log has no control characters", () => {
  expect(shownPath('a\n\u001b[31m"b')).toBe('a\\n\\u001b[31m\\"b');
});

describe("a link in a folder", () => {
  it.each([
    ["a/l", "b", true],
    ["a/l", "../b", true],
    ["l", ".", true],
    ["a/l", "./../b/./c", true],
    ["a/l", "../..", false],
    ["l", "..", false],
    ["l", "/", false],
    ["l", "", false],
    ["a/b/l", "c/../d", false],
    ["a/b/l", "../c/..", false],
  ])("%s -> %s stays within: %s", (path, text, stays) => {
    expect(staysWithin(path.split("/"), text)).toBe(stays);
  });
});
