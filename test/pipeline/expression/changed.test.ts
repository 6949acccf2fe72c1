import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameMatcher } from "../../../src/domain/patterns.ts";
import { answerChanged, changedQuestion } from "../../../src/pipeline/expression/changed.ts";
import { Dictionary } from "../../../src/pipeline/expression/data.ts";
import { evaluateCondition, evaluateText } from "../../../src/pipeline/expression/evaluate.ts";
import { parseExpression } from "../../../src/pipeline/expression/parse.ts";
import { fixedContext, makeScope } from "../../../src/pipeline/expression/scope.ts";
import { ExpressionMistake } from "../../../src/pipeline/mistake.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";

const EMPTY = new Dictionary([]);
const CONTEXTS = {
  ...{ vars: EMPTY, secrets: EMPTY, env: EMPTY, repository: EMPTY, agent: EMPTY, steps: EMPTY, job: EMPTY },
  build: fixedContext([]),
};

const holds = (condition: string, files: readonly string[] | null, status: "success" | "failure" = "success") =>
  evaluateCondition(parseExpression(condition), makeScope(CONTEXTS, status, files));

describe("changed()", () => {
  it.each<[string, string[] | null, boolean]>([
    ["changed('docs/**')", ["docs/a.md"], true],
    ["changed('docs/**')", ["src/a.ts"], false],
    ["changed('docs/**')", [], false],
    ["changed('docs/**')", null, true],
    ["!changed('docs/**')", null, false],
    ["CHANGED('docs/**')", ["docs/a.md"], true],
    ["changed('**', '!docs/**')", ["docs/a.md"], false],
    ["changed('**', '!docs/**')", ["docs/a.md", "src/a.ts"], true],
    ["changed(format('{0}/**', 'docs'))", ["docs/a.md"], true],
    ["changed('docs/**') || changed('src/**')", ["src/a.ts"], true],
  ])("%s of %j: %s", (condition, files, expected) => expect(holds(condition, files)).toBe(expected));

  it("is true without a list of files, for any patterns", () => {
    const pattern = fc.stringMatching(/^[a-z*?/]{0,6}[a-z*?]$/).filter((one) => !one.startsWith("/"));
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), fc.array(fc.string()), (patterns, files) => {
        const condition = `changed(${patterns.map((one) => `'${one}'`).join(", ")})`;
        expect(holds(condition, null)).toBe(true);
        expect(holds(condition, files)).toBe(files.some(nameMatcher(patterns)));
      }),
    );
  });

  it("is true if comparing all the files is too much work, and then for every call in a file", () => {
    const slow = Array.from({ length: 4 }, () => "*a".repeat(124));
    const files = Array.from({ length: 20 }, (_, index) => `${"a".repeat(2000)}${index}`);
    const work = { left: 100_000 };
    expect(answerChanged(changedQuestion(["docs/**"]), files, work)).toBe(false);
    expect(answerChanged(changedQuestion(slow), files, work)).toBe(true);
    expect(answerChanged(changedQuestion(["docs/**"]), files, work)).toBe(true);
    expect(holds(`changed(${slow.map((one) => `'${one}'`)})`, files)).toBe(true);
  });

  it("is not a status function: after a failure its step does not run", () => {
    expect(holds("changed('**')", ["a"], "failure")).toBe(false);
    expect(holds("always() && changed('**')", ["a"], "failure")).toBe(true);
  });

  it("is text outside a condition", () => {
    const scope = makeScope(CONTEXTS, "success", ["a"]);
    expect(evaluateText(parseExpression("changed('b')"), scope)).toEqual({ text: "false", isSecret: false });
  });

  it.each([
    ["changed('/docs')", "1:24 A pattern must not begin with / or ./: leave it out"],
    ["changed('!docs')", "1:24 A pattern with ! excludes matches of earlier ones: write '**' first"],
    ["changed('a', '')", "1:29 A pattern must not be empty"],
    ["changed()", "1:16 This function needs more arguments"],
    ["changed", "1:16 This is a function: call it with ( )"],
  ])("%s is a mistake of the file", (condition, mistake) => {
    const { mistakes = [] } = parsePlan(`steps: [{ if: "${condition}", run: x }]`);
    expect(mistakes.map((one) => `${one.line}:${one.column} ${one.message}`)).toEqual([mistake]);
  });

  it("with a wrong pattern that only the build knows is a mistake of the step", () => {
    for (const condition of ["changed(build.branch)", "changed(fromJSON('[]'))", "changed(format('/{0}', 'a'))"])
      expect(() => holds(condition, null)).toThrow(ExpressionMistake);
  });
});
