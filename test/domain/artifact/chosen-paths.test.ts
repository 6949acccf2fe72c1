import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { artifactPathProblem, choosePaths } from "../../../src/domain/artifact/chosen-paths.ts";

describe("paths of files", () => {
  it.each([
    ["build/*.ipa", "build/app.ipa", "app.ipa"],
    ["build/*.ipa", "build/sub/app.ipa", null],
    ["build/**/*.ipa", "build/sub/app.ipa", "sub/app.ipa"],
    ["dist/", "dist/a/b", "a/b"],
    ["dist", "dist/a/b", "a/b"],
    ["dist", "dist2/a", null],
    ["report.html", "report.html", "report.html"],
    ["out/report.html", "out/report.html", "report.html"],
    ["./out/x", "out/x", "x"],
    [".", "any/thing", "any/thing"],
    ["a/b*/c", "a/bb/c/d", "bb/c/d"],
  ])("%s means %s as %s", (path, file, name) => {
    expect(choosePaths([path]).nameOf(file)).toBe(name);
  });

  it("exclude matches of !, and the last match decides", () => {
    const { nameOf, places } = choosePaths(["out", "!out/tmp/", "out/tmp/keep/*"]);
    expect(["out/a", "out/tmp/x", "out/tmp/keep/y"].map(nameOf)).toEqual(["a", null, "y"]);
    expect(places).toEqual([["out"]]);
  });

  it("are searched for once in each place", () => {
    const placesOf = (...paths: string[]) => choosePaths(paths).places.map((parts) => parts.join("/"));
    expect(placesOf("a/b/*", "a/*", "a/*/c", "z")).toEqual(["a", "z"]);
    expect(placesOf("a/b", "**")).toEqual([""]);
    expect(placesOf("ab", "a")).toEqual(["ab", "a"]);
  });

  it("never lead out of the checkout", () => {
    const part = fc.constantFrom("..", ".", "a", "*", "**", "", "~", "b c");
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const path = parts.join("/");
        if (artifactPathProblem(path) !== null) return;
        const { places } = choosePaths([path]);
        for (const place of places) {
          expect(place).not.toContain("..");
          expect(place[0]).not.toBe("");
        }
      }),
    );
    expect(artifactPathProblem("a/../b")).not.toBeNull();
  });

  it("give each file a relative name", () => {
    const part = fc.constantFrom("a", "b", "c.txt");
    const file = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    const path = fc
      .array(fc.constantFrom("a", "b", "*", "**", "c.*"), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(file, path, (file, path) => {
        const name = choosePaths([path]).nameOf(file);
        if (name !== null) expect(`/${file}`.endsWith(`/${name}`) && name !== "").toBe(true);
      }),
    );
  });
});
