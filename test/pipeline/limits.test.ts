import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FILE_LIMITS } from "../../src/pipeline/fields/limits.ts";
import { unknownVariables } from "../../src/pipeline/parse/known-variables.ts";
import { parsePlan } from "../../src/pipeline/parse/parse.ts";
import { withCommas } from "../../src/protocol/limits.ts";
import { aliased, filled, GROWING, LARGE_TEXTS, LARGE_TREES } from "./support/largest-files.ts";
import { readInHeap } from "./support/read-in-heap.ts";

/** Megabytes of heap with everything that the process has loaded. A Worker has 128. */
const HEAP = 64;

const FILES = { ...LARGE_TREES, ...LARGE_TEXTS, ...GROWING };
const GROWN = "The aliases up to here make the file larger than its limit";

describe(`a heap of ${HEAP} megabytes`, () => {
  it("is enough for the largest file of each kind", async () => {
    const times = await readInHeap(Object.values(FILES), "plan", HEAP);
    expect(Object.keys(FILES).slice(times.length), "the first of these is too much").toEqual([]);
  });

  it("is not enough for the same scripts read once for each alias, or for a tree without bounds", async () => {
    const small = "steps: [{ run: x }]";
    expect(await readInHeap([GROWING["200 aliases"]!], "each alias again", HEAP)).toEqual([]);
    expect(await readInHeap([small, filled("name: [", "{},", "]"), small], "yaml", HEAP)).toHaveLength(1);
  });
});

describe("a file beyond a limit", () => {
  it.each(Object.entries(GROWING))("with %s is rejected at the alias that exceeds the limit", (_, file) => {
    const { mistakes = [] } = parsePlan(file);
    expect(mistakes.map((one) => one.message)).toEqual([GROWN]);
    const lines = file.split("\n");
    expect(lines[mistakes[0]!.line - 1]?.slice(mistakes[0]!.column - 1)).toBe("*r }");
    const first = lines.findIndex((line) => line.includes("*r"));
    const read = (mistakes[0]!.line - first) * file.indexOf("steps:");
    expect(read).toBeGreaterThan(FILE_LIMITS.read - file.indexOf("steps:"));
    expect(read).toBeLessThan(FILE_LIMITS.read + 2 * file.indexOf("steps:"));
  });

  it.each([
    ["[", "The file is nested too deeply"],
    ["{a: ", "The file is nested too deeply"],
    ["- ", "The file is nested too deeply"],
    ["? ", "The file is nested too deeply"],
    ["&a ", "The file has more than 2,000 anchors, aliases and tags"],
    ["!a ", "The file has more than 2,000 anchors, aliases and tags"],
    ["a: [b]\n", "The file has more than 60,000 words, signs and line breaks of YAML"],
    ["#\n", "The file has more than 60,000 words, signs and line breaks of YAML"],
    ["xxxxxxxxxxx", "This must be a mapping, with `key: value` on each line"],
  ])("is rejected: %j, repeated", (unit, message) => {
    expect(parsePlan(filled("", unit)).mistakes).toMatchObject([{ message }]);
  });

  it("is rejected after 262,144 characters, 1,000 expressions in a text, or 50,000 words and signs in all texts", () => {
    expect(parsePlan(`steps: [{ run: x }]\n#${"x".repeat(262_144)}`).mistakes?.[0]?.message).toContain("262,144");
    const many = `steps:\n  - run: |\n      echo\n      ${"${{ A }} ".repeat(1001)}`;
    expect(parsePlan(many).mistakes).toEqual([
      { line: 4, column: 9007, message: "This text has more than 1,000 expressions" },
    ]);
    const message = "The file's expressions have more than 50,000 words and signs, counting each use of an alias";
    expect(parsePlan(aliased("  ${{ a }}\n", 500, 40)).mistakes).toEqual([{ line: 1, column: 10, message }]);
    expect(parsePlan(aliased("  ${{ a }}\n", 500, 30)).mistakes).toBeUndefined();
  });

  it("with aliases of mappings, or of a node that contains the alias, is rejected", () => {
    const keys = Array.from({ length: 2000 }, (_, index) => `K${index}: x`).join(", ");
    const steps = "  - { run: a, env: *e }\n".repeat(400);
    expect(parsePlan(`env: &e { ${keys} }\nsteps:\n${steps}`).mistakes).toMatchObject([{ message: GROWN }]);
    expect(parsePlan("steps: &a [*a]").mistakes).toMatchObject([{ line: 1, column: 12 }]);
  });

  it("has at most 200 reported mistakes, each place once", () => {
    expect(parsePlan(`name: "${"${{ a b }}".repeat(900)}"\nsteps: [{ run: x }]`).mistakes).toHaveLength(200);
    const { plan } = parsePlan(`steps:\n  - run: |\n      ${"${{ vars.A }} ".repeat(900)}`);
    expect(unknownVariables(plan!, { vars: [], secrets: [] })).toHaveLength(200);
    const twice = parsePlan(`name: &r "\${{ a b }}"\nsteps:\n${"  - { run: *r }\n".repeat(400)}  - { rum: x }\n`);
    expect(twice.mistakes?.map((one) => one.line)).toEqual([1, 403, 403]);
  });

  it("with a nested script is rejected where the nesting is too deep", () => {
    const deep = (levels: number) => `steps:\n  - run: '${"$(".repeat(levels)} echo \${{ A }} ${")".repeat(levels)}'`;
    expect(parsePlan(deep(FILE_LIMITS.scriptDepth)).mistakes).toBeUndefined();
    expect(parsePlan(deep(60_000)).mistakes?.[0]?.message).toContain("nested too deeply");
    const quotes = `steps:\n  - run: '${'"${a:-'.repeat(40_000)} \${{ A }}'`;
    expect(parsePlan(quotes).mistakes?.[0]?.message).toContain("nested too deeply");
  });
});

describe("a script with many aliases", () => {
  it("is read once, and its names are looked up in each place", () => {
    const file = `name: &r "echo \${{ A }}"\nsteps:\n  - { run: *r }\n  - { run: *r }\n`;
    const [one, two] = parsePlan(file).plan!.job.steps;
    expect(one!.run.references[0]!.value).toBe(two!.run.references[0]!.value);
    const steps = `  - { run: &s "echo \${{ steps.a.exitCode }}", id: a }\n  - { run: *s }\n`;
    expect(parsePlan(`steps:\n${steps}`).mistakes).toMatchObject([{ line: 2, column: 31 }]);
  });
});

describe("the page about pipeline files", () => {
  it("has every limit", () => {
    const page = readFileSync("docs/pipelines.md", "utf8");
    const section = /^## Limits\n(.*?)^## /ms.exec(page)?.[1] ?? "";
    expect(Object.values(FILE_LIMITS).filter((limit) => !section.includes(` ${withCommas(limit)} `))).toEqual([]);
  });
});
