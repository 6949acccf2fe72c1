import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** The table of docs/contributing.md: a path or the beginning of one in src, and where its tests are. */
const ROWS = [
  ...readFileSync("docs/contributing.md", "utf8").matchAll(/^\| (`src\/[^|]+`|the repository.*) \| (.*) \|$/gm),
].map(([, source = "", tests = ""]) => ({
  source: source.replaceAll("`", ""),
  tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, path]) => path!),
}));
const NAMED = ROWS.flatMap(({ tests }) => tests);

const pathsOf = (pattern: string): string[] => sourceFiles(pattern).map(({ path }) => path);
const SOURCES = pathsOf("src/**/*.{ts,tsx}").filter((path) => !path.endsWith(".d.ts"));

describe("the map from source files to their tests", () => {
  it("has a row for every file of src", () => {
    const missing = SOURCES.filter((path) => !ROWS.some(({ source }) => path.startsWith(source)));
    expect(ROWS.length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });

  it("names only files and folders that exist", () => {
    const unused = ROWS.filter(
      ({ source }) => source.startsWith("src/") && !SOURCES.some((path) => path.startsWith(source)),
    );
    expect(unused).toEqual([]);
    expect(NAMED.filter((path) => !existsSync(path))).toEqual([]);
  });

  it("leads to every test file", () => {
    const tests = pathsOf("test/**/*.test.ts");
    expect(tests.filter((path) => !NAMED.some((named) => path.startsWith(named)))).toEqual([]);
  });
});
