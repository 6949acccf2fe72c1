import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** Patterns of docs/style.md that a program can find, each with the text that it must find. */
const PATTERNS: [RegExp, not: string][] = [
  [/(^|[.:;] |\/\/ |\* )Of (?!course)/, "Of a long log the end is there first."],
  [/\bof several(?! \w)/, "a build of several"],
  [/\b(is|are|was|were) none\b/, "a list that is none"],
  [/\b(is|are|was|were|be|been) told\b/, "D1 is told of the end."],
  [/\b(hears?|heard|knows?|tells?) of\b/, "The host is told; D1 hears of it."],
  [/\bgo(es)? with\b/, "The name goes with the build."],
  [/\banew\b/, "starts anew"],
  [/\bonce more\b/, "The delivery is sent once more."],
  [/\b(is|are|was|were) away\b/, "while D1 is away"],
  [/\bof before\b(?!\))|\bthe (release|one|version) before\b/, "the release before, the builds of before"],
  [/\b(come|came) of\b/, "The state came of a retry."],
];

/** The words are foreign in these folders, and the table's examples are in its page and here. */
const EXCEPT = /^(test\/(browser|clients|releases)\/|docs\/style\.md$|test\/house\/style\.test\.ts$)/;

const findings = (files: SourceFile[]): string[] =>
  files
    .filter(({ path }) => !EXCEPT.test(path))
    .flatMap(({ path, text }) =>
      text
        .split("\n")
        .flatMap((line, index) =>
          PATTERNS.some(([pattern]) => pattern.test(line)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
        ),
    );

describe("the texts in src, docs and test", () => {
  it("have no pattern that docs/style.md rejects", () => {
    expect(findings(sourceFiles("{src,docs,test}/**/*.{ts,tsx,md}"))).toEqual([]);
  });

  it.each(PATTERNS)("fail the check with %s: %s", (pattern, not) => {
    expect(not).toMatch(pattern);
    expect(findings([{ path: "src/a.ts", text: `/** ${not} */` }])).toHaveLength(1);
  });

  it("are checked by examples that docs/style.md shows", () => {
    const page = readFileSync("docs/style.md", "utf8");
    expect(PATTERNS.filter(([, not]) => page.includes(not)).length).toBeGreaterThanOrEqual(7);
  });
});
