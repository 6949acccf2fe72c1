import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

/** Returns the id that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .replaceAll(" ", "-");

const anchorsIn = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

/**
 * Returns the paths in src and test, or beginnings of paths, that a page names. Skips paths with a placeholder in
 * capitals, such as NOUN.
 */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|test)\/[\w./-]+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !/[A-Z]{4}/.test(path));

const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^\w+:/.test(link));

const missing = (page: string, text: string): string[] => [
  ...pathsIn(text).filter((path) => globSync(`${path}*`).length === 0),
  ...linksIn(text).filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (path !== "" && !existsSync(target)) return true;
    return anchor !== undefined && !anchorsIn(path === "" ? text : readFileSync(target, "utf8")).includes(anchor);
  }),
];

/** Returns what a page lacks: a paragraph below its title that says its purpose, or a last line that leads on. */
const lacking = (text: string): string[] => [
  ...(/^# .+\n\n[A-Z`].+/.test(text) ? [] : ["a paragraph below the title"]),
  ...(/\nNext: \S.*\]\([\w./-]+\.md(#[\w-]+)?\).*\n$/.test(text) ? [] : ["a last line that begins with Next"]),
];

const PAGES = globSync("docs/**/*.md").sort();

describe("the documents", () => {
  it.each(["README.md", ...PAGES])("link to existing files and headings: %s", (page) => {
    expect(missing(page, readFileSync(page, "utf8"))).toEqual([]);
  });

  it("begin with their purpose, and end with a link to the next page", () => {
    const read = PAGES.flatMap((page) => lacking(readFileSync(page, "utf8")).map((part) => `${page}: ${part}`));
    expect(read).toEqual([]);
    expect(lacking("# Title\n\n| table |\n\nNext: nothing.\n")).toHaveLength(2);
    expect(lacking("# Title\n\nThis page.\n\nNext: [api.md](api.md).\n")).toEqual([]);
  });

  it("are all in the table of contents, except the guides of one host", () => {
    const contents = linksIn(readFileSync("docs/README.md", "utf8")).map((link) => link.split("#")[0]);
    expect(
      globSync("*.md", { cwd: "docs" }).filter((page) => page !== "README.md" && !contents.includes(page)),
    ).toEqual([]);
  });

  it("have a README of at most 150 lines", () => {
    expect(readFileSync("README.md", "utf8").split("\n").length).toBeLessThanOrEqual(150);
  });

  it("fail the check with a broken link or path", () => {
    const text =
      "`src/gone.ts` [a](gone.md) [b](api.md#gone) [c](#gone)\n# Here\n[d](#here) `src/NOUN.ts` `src/worker.ts`";
    expect(missing("docs/x.md", text)).toEqual(["src/gone.ts", "gone.md", "api.md#gone", "#gone"]);
  });
});
