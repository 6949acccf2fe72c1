import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Names that declare a function, a class, a table or a method. */
const declares = (text: string, name: string): boolean =>
  new RegExp(`(?:const|function|class|interface|async|get) ${name}\\b|^ *(?:export )?${name}(?:\\(|: )`, "m").test(
    text,
  );

/** Returns the paths that a page names and the repository lacks. NOUN, NAME and VERSION stand for any name. */
const missingPaths = (page: string): string[] =>
  [...page.matchAll(/`((?:src|test|docs|migrations)\/[\w./-]+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !/[A-Z]{4}|\*/.test(path) && !existsSync(path));

/** Returns the file names, without a folder or with its last part, that no file in the repository has. */
const missingFiles = (page: string, paths: string[]): string[] =>
  [...page.matchAll(/`([\w./-]+\.(?:tsx?|css))`/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !/[A-Z]{4}/.test(name) && !paths.some((path) => path === name || path.endsWith(`/${name}`)));

/** Returns the functions that a page names with a file that lacks them: "`step` (`src/queue/step.ts`)". */
const missingNames = (page: string): string[] =>
  [...page.matchAll(/`(\w+)`[^`.]*?\(`(src\/[^`]+\.tsx?)`\)/g)]
    .filter(([, name = "", path = ""]) => existsSync(path) && !declares(readFileSync(path, "utf8"), name))
    .map(([, name, path]) => `${name} in ${path}`);

// The changelog names paths that existed at the time.
const PAGES = sourceFiles("{README.md,docs/**/*.md}").filter(({ path }) => path !== "docs/changelog.md");
// docs/clients.md names a program that its reader writes.
const NAMES = [...sourceFiles("{src,test}/**/*.{ts,tsx,css}"), { path: "release.ts" }].map(({ path }) => path);

describe("the documents", () => {
  it("name existing files", () => {
    expect(PAGES.flatMap(({ path, text }) => missingPaths(text).map((name) => `${path}: ${name}`))).toEqual([]);
    expect(PAGES.flatMap(({ path, text }) => missingFiles(text, NAMES).map((name) => `${path}: ${name}`))).toEqual([]);
  });

  it("name existing functions in docs/walk.md", () => {
    const page = readFileSync("docs/walk.md", "utf8");
    expect(page.match(/\(`src\//g)?.length).toBeGreaterThan(25);
    expect(missingNames(page)).toEqual([]);
  });

  it("fail the check with a missing file or function", () => {
    const page = "`step` (`src/queue/commands/step.ts`), `jump` (`src/queue/commands/step.ts`), `src/none.ts`";
    expect([...missingPaths(page), ...missingNames(page)]).toEqual([
      "src/none.ts",
      "jump in src/queue/commands/step.ts",
    ]);
  });
});
