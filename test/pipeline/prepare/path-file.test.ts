import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathWith, prependFolders, readPathFile } from "../../../src/pipeline/prepare/path-file.ts";

describe("the file of MILLRACE_PATH", () => {
  it("has a folder per line", () => {
    expect(readPathFile("/a b/bin\n/ü\r\n/$(x)")).toEqual({ folders: ["/a b/bin", "/ü", "/$(x)"], problems: [] });
    expect(readPathFile("")).toEqual({ folders: [], problems: [] });
  });

  it.each([
    ["bin\n", 1, "must be the whole path of a folder, beginning with /"],
    ["/a\n./b\n", 2, "must be the whole path of a folder, beginning with /"],
    ["~/bin\n", 1, "must be the whole path of a folder, beginning with /"],
    [" /bin\n", 1, "must be the whole path of a folder, beginning with /"],
    ["/a\n\n/b\n", 2, "the line is empty: in PATH it would mean the current folder"],
    ["\n", 1, "the line is empty: in PATH it would mean the current folder"],
    ["/a\0b\n", 1, "the folder has a NUL character"],
    ["/a:/b\n", 1, "the folder has a colon, which separates folders in PATH"],
    ["/a:\n", 1, "the folder has a colon, which separates folders in PATH"],
  ])("%j is wrong in line %i", (content, line, message) => {
    expect(readPathFile(content).problems).toEqual([{ line, message }]);
  });

  it("never gives PATH a part that is not a full path", () => {
    const line = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[/:.~ a\n]{0,8}$/));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        const { folders } = readPathFile(lines.join("\n"));
        const parts = pathWith(prependFolders(folders, []), "/usr/bin").split(":");
        expect(parts.every((part) => part.startsWith("/") && !part.includes("\0"))).toBe(true);
        expect(parts).toHaveLength(new Set(folders).size + 1);
      }),
    );
  });

  it("puts the latest folder first, once", () => {
    expect(prependFolders(["/c", "/a", "/d"], ["/a", "/b"])).toEqual(["/d", "/a", "/c", "/b"]);
    expect(pathWith(["/a"], "/b:/c")).toBe("/a:/b:/c");
    expect([pathWith(["/a"], ""), pathWith(["/a"], undefined)]).toEqual(["/a", "/a"]);
  });
});
