import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Names that declare a function, a class, a table or a method. */
const declares = (text: string, name: string): boolean =>
  new RegExp(`(?:const|function|class|async|get) ${name}\\b|^ *(?:export )?${name}(?:\\(|: )`, "m").test(text);

/** Paths that a page names and the repository does not have. NOUN, NAME and VERSION stand for any. */
const missingPaths = (page: string): string[] =>
  [...page.matchAll(/`((?:src|test|docs|migrations)\/[\w./-]+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !/[A-Z]{4}|\*/.test(path) && !existsSync(path));

/** Functions that a page names with a file, and the file does not have: "`step` (`src/queue/step.ts`)". */
const missingNames = (page: string): string[] =>
  [...page.matchAll(/`(\w+)`[^`.]*?\(`(src\/[^`]+)`\)/g)]
    .filter(([, name = "", path = ""]) => existsSync(path) && !declares(readFileSync(path, "utf8"), name))
    .map(([, name, path]) => `${name} in ${path}`);

// The changelog names what was there then.
const PAGES = sourceFiles("{README.md,docs/**/*.md}").filter(({ path }) => path !== "docs/changelog.md");

describe("the documents", () => {
  it("name files and functions that exist", () => {
    expect(PAGES.flatMap(({ path, text }) => missingPaths(text).map((name) => `${path}: ${name}`))).toEqual([]);
    expect(PAGES.flatMap(({ path, text }) => missingNames(text).map((name) => `${path}: ${name}`))).toEqual([]);
  });

  it("have a walk of one build, file by file", () => {
    expect(readFileSync("docs/walk.md", "utf8").match(/\(`src\//g)?.length).toBeGreaterThan(25);
  });

  it("would be seen to be stale", () => {
    const page = "`step` (`src/queue/commands/step.ts`), `jump` (`src/queue/commands/step.ts`), `src/none.ts`";
    expect([...missingPaths(page), ...missingNames(page)]).toEqual([
      "src/none.ts",
      "jump in src/queue/commands/step.ts",
    ]);
  });
});
