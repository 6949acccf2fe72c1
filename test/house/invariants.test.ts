import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PLANTED } from "../drill/day/planted.ts";
import { INVARIANTS } from "../simulate/invariants.ts";
import { MUTANTS } from "../simulate/mutants.ts";
import { LEGEND } from "../simulate/trace.ts";
import { plant } from "../support/plant.ts";

const ROOT = join(import.meta.dirname, "../..");
const DOCUMENT = readFileSync(join(ROOT, "docs/invariants.md"), "utf8");
const NUMBERS = Object.keys(INVARIANTS).map(Number);

interface Section {
  number: number;
  title: string;
  checkedBy: string[];
  mutants: string[];
}

const quoted = (line = ""): string[] => [...line.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);

const SECTIONS: Section[] = DOCUMENT.split(/^## (?=\d+\. )/m)
  .slice(1)
  .map((text) => {
    const [, number, title] = /^(\d+)\. (.*)/.exec(text)!;
    return {
      number: Number(number),
      title: title!,
      checkedBy: quoted(/^Checked by: (.*)/m.exec(text)?.[1]),
      mutants: quoted(/^Mutants: (.*)/m.exec(text)?.[1]),
    };
  });

/** Returns the simulation's files with `must(NUMBER, ...)`. */
const filesThatCheck = (number: number): string[] => {
  const folder = "test/simulate";
  const names = readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);
  const call = new RegExp(`\\bmust\\(\\s*${number},`);
  return names.filter((name) => call.test(readFileSync(join(ROOT, name), "utf8"))).sort();
};

describe("a mutant's change of the source", () => {
  it("replaces text that occurs once in its file", () => {
    const ofTheDay = Object.values(PLANTED).flatMap(({ file, rules }) => rules.map((rule) => ({ file, ...rule })));
    const planted = [...MUTANTS.flatMap(({ rules }) => rules.planted ?? []), ...ofTheDay];
    expect(planted.length).toBeGreaterThan(10);
    for (const rule of planted) expect(plant(readFileSync(join(ROOT, rule.file), "utf8"), rule)).toContain(rule.wrong);
  });

  it("is rejected if the text is missing or occurs more than once", () => {
    const rule = { file: "a.ts", right: "is(1)", wrong: "is(2)" };
    expect(plant("if (is(1)) go();", rule)).toBe("if (is(2)) go();");
    expect(() => plant("if (is(3)) go();", rule)).toThrow("a.ts must have this rule once, but has it 0 times: is(1)");
    expect(() => plant("is(1) || is(1)", rule)).toThrow("a.ts must have this rule once, but has it 2 times: is(1)");
  });
});

describe("docs/invariants.md", () => {
  it("has each violation's number and title", () => {
    const documented = Object.fromEntries(SECTIONS.map(({ number, title }) => [number, title]));
    expect(documented).toEqual(INVARIANTS);
    const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
    expect(/the (\d+) rules that must never break/.exec(read("README.md"))?.[1]).toBe(String(NUMBERS.length));
    expect(/These (\d+) invariants/.exec(DOCUMENT)?.[1]).toBe(String(NUMBERS.length));
  });

  it.each(SECTIONS)("names every file of the simulation that checks invariant $number", ({ number, checkedBy }) => {
    expect(checkedBy).not.toEqual([]);
    expect(checkedBy.filter((file) => file.startsWith("test/simulate/")).sort()).toEqual(filesThatCheck(number));
    const others = checkedBy.filter((file) => !file.startsWith("test/simulate/"));
    for (const file of others) {
      expect(readFileSync(join(ROOT, file), "utf8"), file).toMatch(new RegExp(`\\binvariant ${number}\\b`));
    }
  });

  it.each(SECTIONS)("names the mutants that break invariant $number", ({ number, mutants }) => {
    const breaking = MUTANTS.filter(({ breaks }) => breaks === number).map(({ name }) => name);
    expect(mutants).toEqual(breaking);
  });

  it("explains a trace with the program's words", () => {
    expect(DOCUMENT).toContain(LEGEND);
  });
});
