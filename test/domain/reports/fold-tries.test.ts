import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TestCase } from "../../../src/domain/reports/parse-junit.ts";
import { countTests, foldTries } from "../../../src/domain/reports/report-to-send.ts";

const OUTCOMES = { p: "passed", f: "failed", s: "skipped" } as const;

/** A case named `name`; `f` fails, `p` passes, `s` is skipped. */
const ran = (name: string, outcome: keyof typeof OUTCOMES, more: Partial<TestCase> = {}): TestCase => ({
  suite: "math",
  className: "Sum",
  name,
  file: null,
  line: null,
  seconds: 1,
  outcome: OUTCOMES[outcome],
  failedTries: 0,
  message: outcome === "f" ? "no" : "",
  text: "",
  ...more,
});
const folded = (cases: TestCase[]) =>
  foldTries(cases).map(({ name, outcome, tries, isFlaky }) => [name, outcome, tries, isFlaky]);

describe("tries of the same test in a job", () => {
  it.each([
    ["failed, then passed", "ffp", [["a", "passed", 3, true]]],
    ["passed, then failed", "pff", [["a", "passed", 3, true]]],
    ["failed each time", "fff", [["a", "failed", 3, false]]],
    [
      "passed each time: sets of values",
      "pp",
      [
        ["a", "passed", 1, false],
        ["a", "passed", 1, false],
      ],
    ],
    [
      "skipped once, failed once",
      "sf",
      [
        ["a", "failed", 1, false],
        ["a", "skipped", 1, false],
      ],
    ],
  ] as const)("are combined: %s", (_, outcomes, results) => {
    expect(folded([...outcomes].map((outcome) => ran("a", outcome as "p")))).toEqual(results);
  });

  it("is another test in another class, suite or file", () => {
    const others = [{ className: "Other" }, { suite: "other" }, { file: "other.ts" }];
    const cases = [ran("a", "f"), ...others.map((more) => ran("a", "p", more))];
    expect(countTests(foldTries(cases))).toEqual({ total: 4, failed: 1, skipped: 0, flaky: 0, seconds: 4 });
  });

  it("is flaky if its tool says so", () => {
    const cases = [ran("a", "p", { failedTries: 1 }), ran("b", "f", { failedTries: 2 })];
    expect(folded(cases)).toEqual([
      ["a", "passed", 2, true],
      ["b", "failed", 3, false],
    ]);
  });

  it("keeps why a try of a flaky test failed", () => {
    expect(foldTries([ran("a", "f"), ran("a", "p")])).toMatchObject([{ outcome: "passed", message: "no" }]);
  });

  it("neither loses nor invents failures", () => {
    const cases = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("p", "f", "s")));
    fc.assert(
      fc.property(cases, (drawn) => {
        const counts = countTests(foldTries(drawn.map(([name, outcome]) => ran(name, outcome as "p"))));
        const names = (outcome: string) => new Set(drawn.filter((one) => one[1] === outcome).map(([name]) => name));
        const [failed, passed] = [names("f"), names("p")];
        expect(counts.flaky).toBe([...failed].filter((name) => passed.has(name)).length);
        expect(counts.failed).toBe(failed.size - counts.flaky);
        expect(counts.skipped).toBe(drawn.filter(([, outcome]) => outcome === "s").length);
      }),
    );
  });
});
