import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inFolder, listProblem, pathProblem, placeFiles } from "../../../src/domain/artifact/file-list.ts";
import { countParts, partSize } from "../../../src/domain/artifact/parts.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const file = (path: string, size = 1) => ({
  ...{ path, size, mode: "644" as const, sha256: "0".repeat(64), crc32: "0".repeat(8) },
});

describe("a path", () => {
  it.each(["a", "a/b", ".hidden", "..a", "a..", "a b", "ü/漢", "a/.../b", "-rf", "con"])("%j is accepted", (path) => {
    expect(pathProblem(path)).toBeNull();
  });

  it.each([
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/..",
    "./a",
    "a\\b",
    "C:",
    "c:/a",
    "a\0",
    "a\x7f",
    "a\u0085",
    "\ud800",
  ])("%j is rejected", (path) => {
    expect(pathProblem(path)).not.toBeNull();
  });

  it("has at most 1,024 bytes", () => {
    expect(pathProblem("é".repeat(512))).toBeNull();
    expect(pathProblem(`${"é".repeat(512)}x`)).toContain("1,024 bytes");
  });

  it("never leads out of a folder if it is accepted", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "..", ".", "", "b", "..."), { maxLength: 6 }), (parts) => {
        const path = parts.join("/");
        if (pathProblem(path) !== null) return;
        expect(new URL(path, "https://x/root/folder/").pathname).toBe(`/root/folder/${path}`);
      }),
    );
  });
});

describe("a list", () => {
  it("has no two names that are the same on some file system", () => {
    const [one, other] = [file("a/b"), file("A/b")];
    const whole = { bytes: 2, files: 2 };
    expect(listProblem([one, other], whole)).toEqual({
      index: 1,
      problem: "is the same as another path on some systems",
    });
    expect(listProblem([one, file("A")], whole)).toEqual({ index: 1, problem: "is also the folder of another path" });
    expect(listProblem([one, file("A/bc")], whole)).toBeNull();
  });

  it("places each file after the previous one", () => {
    expect(placeFiles([file("a", 3), file("b", 0), file("c", 2)]).map(({ start, end }) => [start, end])).toEqual([
      ...[
        [0, 3],
        [3, 3],
        [3, 5],
      ],
    ]);
  });

  it("shows a folder with everything below it, but not names with the same beginning", () => {
    const list = [file("a/b"), file("a/c/d"), file("ab"), file("a")];
    expect(inFolder(list, "a").map(({ path }) => path)).toEqual(["a/b", "a/c/d"]);
    expect(inFolder(list, "a/").map(({ path }) => path)).toEqual(["a/b", "a/c/d"]);
    expect(inFolder(list, null)).toHaveLength(4);
    expect(inFolder(list, "c")).toEqual([]);
  });
});

describe("parts", () => {
  it("sum up to the artifact, and all except the last have the same size", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LIMITS.artifactBytes }), (bytes) => {
        const sizes = Array.from({ length: countParts(bytes) }, (_, index) => partSize(bytes, index + 1) ?? 0);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(bytes);
        expect(sizes.slice(0, -1).every((size) => size === LIMITS.artifactPartBytes)).toBe(true);
        expect(sizes.length).toBeLessThanOrEqual(LIMITS.artifactParts);
        for (const number of [0, -1, 0.5, sizes.length + 1]) expect(partSize(bytes, number)).toBeNull();
      }),
    );
  });
});
