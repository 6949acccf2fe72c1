import { data, Evaluator, type Expr, Lexer, Parser } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { TokenType } from "@actions/expressions/lexer";
import { falsy } from "@actions/expressions/result";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { translateCondition, translateExpression } from "../../src/importer/expression.ts";
import { NoEqual } from "../../src/importer/marks.ts";
import type { Names } from "../../src/importer/names.ts";
import { toData } from "../../src/pipeline/expression/data.ts";
import { evaluateCondition, evaluateText } from "../../src/pipeline/expression/evaluate.ts";
import { parseExpression } from "../../src/pipeline/expression/parse.ts";
import {
  contextOfVariables,
  fixedContext,
  makeScope,
  matrixContext,
  needsContext,
  outputsContext,
} from "../../src/pipeline/expression/scope.ts";

/*
 * Compares an expression's meaning on GitHub and here. Both systems get the same event in their own words. GitHub's own
 * library evaluates the expression, and this project's evaluator evaluates the translation.
 */

interface Situation {
  name: string;
  github: object;
  build: Record<string, unknown>;
}

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const REPOSITORY = { repository: "acme/shop", repository_owner: "acme", sha: COMMIT, workflow: "CI", job: "test" };
const BUILD = {
  id: "b1",
  number: 7,
  commit: COMMIT,
  attempt: 1,
  trigger: "api",
  message: "Fix it",
  base: null,
  trusted: true,
};
const NONE = { tag: null, pull: null, schedule: null };

const pushed = (branch: string): Situation => ({
  name: `a push of ${branch}`,
  github: {
    ...{ ...REPOSITORY, event_name: "push", ref: `refs/heads/${branch}`, ref_name: branch, ref_type: "branch" },
    ...{ head_ref: "", base_ref: "", event: { head_commit: { message: "Fix it" }, after: COMMIT } },
  },
  build: { ...BUILD, ...NONE, event: "push", branch, ref: `refs/heads/${branch}` },
});
const OWN_PULL = "a pull request of a branch that is called like a wanted one";
const SITUATIONS: Situation[] = [
  pushed("main"),
  pushed("feature/x"),
  {
    name: "a tag",
    github: {
      ...{ ...REPOSITORY, event_name: "push", ref: "refs/tags/v1.2", ref_name: "v1.2", ref_type: "tag" },
      ...{ head_ref: "", base_ref: "", event: { head_commit: { message: "Fix it" }, after: COMMIT } },
    },
    build: { ...BUILD, ...NONE, event: "tag", branch: "v1.2", ref: "refs/tags/v1.2", tag: "v1.2" },
  },
  {
    name: OWN_PULL,
    github: {
      ...{
        ...REPOSITORY,
        event_name: "pull_request",
        ref: "refs/pull/5/merge",
        ref_name: "5/merge",
        ref_type: "branch",
      },
      ...{ head_ref: "main", base_ref: "next" },
      event: {
        number: 5,
        pull_request: {
          number: 5,
          head: { ref: "main", sha: COMMIT, repo: { full_name: "acme/shop", fork: false, owner: { login: "acme" } } },
          base: { ref: "next", repo: { full_name: "acme/shop" } },
        },
      },
    },
    build: {
      ...{ ...BUILD, ...NONE, event: "pull", branch: "main", ref: "refs/heads/main" },
      pull: { number: 5, base: "next", branch: "main" },
    },
  },
  {
    name: "a pull request of a fork",
    github: {
      ...{
        ...REPOSITORY,
        event_name: "pull_request",
        ref: "refs/pull/6/merge",
        ref_name: "6/merge",
        ref_type: "branch",
      },
      ...{ head_ref: "main", base_ref: "main" },
      event: {
        number: 6,
        pull_request: {
          number: 6,
          head: { ref: "main", sha: COMMIT, repo: { full_name: "guest/shop", fork: true, owner: { login: "guest" } } },
          base: { ref: "main", repo: { full_name: "acme/shop" } },
        },
      },
    },
    build: {
      ...{ ...BUILD, ...NONE, event: "pull", branch: "main", ref: "refs/heads/main", trusted: false },
      pull: { number: 6, base: "main", branch: "main" },
    },
  },
  {
    name: "a time",
    github: { ...pushed("main").github, event_name: "schedule", event: {} },
    build: { ...pushed("main").build, event: "schedule", schedule: "nightly" },
  },
  {
    name: "by hand",
    github: { ...pushed("main").github, event_name: "workflow_dispatch", event: {} },
    build: { ...pushed("main").build, event: "api" },
  },
  {
    name: "a merge queue",
    github: {
      ...{ ...pushed("gh-readonly-queue/main/pr-5").github, event_name: "merge_group", event: {} },
    },
    build: { ...pushed("gh-readonly-queue/main/pr-5").build, event: "merge-group" },
  },
];

type Status = "success" | "failure" | "cancelled";
type Result = Status | "skipped" | "dropped";

interface Rest {
  status: Status;
  os: "linux" | "macos";
  results: [Result, Result];
  matrix: { n: number; os: string; flag: boolean; extra?: string };
  env: string;
}

const NAMES: Names = {
  ...{
    workflow: "CI",
    job: "test",
    hasPulls: true,
    pushes: "none",
    hasMoreNeeds: false,
    wrongEnv: [],
    lostEnv: [],
    isStrict: true,
    folder: "",
  },
  matrix: [
    { name: "n", values: [0, 3.1, 18, 20] },
    { name: "os", values: ["ubuntu-latest", "macos-latest"] },
    { name: "flag", values: [true, false] },
    { name: "extra", values: ["x", null] },
  ],
  needs: [
    { key: "build", hasMatrix: false, outputs: ["list"] },
    { key: "Lint", hasMatrix: false, outputs: [] },
  ],
  steps: [
    { id: "one", fate: "kept" },
    { id: "hit", fate: "cache" },
  ],
  env: ["MODE"],
};

const named = (name: string, value: boolean): [string, FunctionDefinition] => [
  name,
  { name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(value) },
];

/** Evaluates the expression with GitHub's own library. */
const there = (text: string, { github }: Situation, rest: Rest): data.ExpressionData => {
  const { tokens } = new Lexer(text).lex();
  const statuses = new Map([
    named("success", rest.status === "success"),
    named("failure", rest.status === "failure"),
    named("cancelled", rest.status === "cancelled"),
    named("always", true),
  ]);
  const { extra, ...matrix } = rest.matrix;
  const asThere = (result: Result) => (result === "dropped" ? "skipped" : result);
  const contexts = {
    ...{ github, env: { MODE: rest.env }, job: { status: rest.status } },
    runner: { os: rest.os === "linux" ? "Linux" : "macOS" },
    matrix: extra === undefined ? matrix : { ...matrix, extra },
    needs: {
      build: { result: asThere(rest.results[0]), outputs: { list: "[1]" } },
      Lint: { result: asThere(rest.results[1]), outputs: {} },
    },
    steps: { one: { outcome: "failure", conclusion: "success", outputs: { a: "b" } }, hit: { outputs: {} } },
  };
  const root: Expr = new Parser(
    tokens,
    tokens.filter(({ type }) => type === TokenType.IDENTIFIER).map(({ lexeme }) => lexeme),
    [...statuses.values()],
  ).parse();
  const context = new data.Dictionary(
    ...Object.entries(contexts).map(([key, value]) => ({ key, value: libraryData(value) })),
  );
  return new Evaluator(root, context, statuses).evaluate();
};

const libraryData = (value: unknown): data.ExpressionData => {
  if (typeof value !== "object" || value === null) return toData(value);
  return new data.Dictionary(...Object.entries(value).map(([key, one]) => ({ key, value: libraryData(one) })));
};

const scopeHere = ({ build }: Situation, rest: Rest) => {
  const text = (value: unknown) => toData(value);
  const { n, os, flag, extra } = rest.matrix;
  const need = (result: Result, outputs: Record<string, string>) => ({ result, outcome: result, outputs, jobs: [] });
  return makeScope(
    {
      vars: contextOfVariables([]),
      secrets: contextOfVariables([]),
      env: contextOfVariables([["MODE", text(rest.env)]]),
      build: fixedContext(Object.entries(build).map(([key, value]) => [key, text(value)])),
      repository: fixedContext([["fullName", text("acme/shop")]]),
      agent: fixedContext([["platform", text(rest.os)]]),
      steps: fixedContext([
        [
          "one",
          fixedContext([
            ["outcome", text("failure")],
            ["conclusion", text("success")],
            ["outputs", outputsContext([["a", text("b")]])],
          ]),
        ],
      ]),
      job: fixedContext([["status", text(rest.status)]]),
      matrix: matrixContext({ n: String(n), os, flag, ...(extra === undefined ? {} : { extra }) }),
      needs: needsContext({
        build: need(rest.results[0], { list: "[1]" }),
        Lint: need(rest.results[1], {}),
      } as never),
    },
    rest.status,
  );
};

/** Compares the expression with its translation `made`, as a condition and as a text. @returns the difference */
const difference = (
  text: string,
  made: { text: string; condition: string },
  situation: Situation,
  rest: Rest,
): string | null => {
  const value = there(text, situation, rest);
  const usesStatus = /\b(?:success|failure|cancelled|always)\(/i.test(text);
  const isTrueThere = (usesStatus || rest.status === "success") && !falsy(value);
  const scope = scopeHere(situation, rest);
  const isTrueHere = evaluateCondition(parseExpression(made.condition), scope);
  const textHere = evaluateText(parseExpression(made.text), scope).text;
  if (isTrueHere !== isTrueThere) return `${text} is ${isTrueThere}, ${made.condition} is ${isTrueHere}`;
  return textHere === value.coerceString() ? null : `${text} is ${value.coerceString()}, ${made.text} is ${textHere}`;
};

const REST: Rest = {
  ...{ status: "success", os: "linux", results: ["success", "success"], env: "" },
  matrix: { n: 18, os: "ubuntu-latest", flag: true },
};

const rests = fc.record<Rest>({
  status: fc.constantFrom("success", "failure", "cancelled"),
  os: fc.constantFrom("linux", "macos"),
  results: fc.tuple(
    ...([0, 1].map(() => fc.constantFrom("success", "failure", "cancelled", "skipped", "dropped")) as [
      fc.Arbitrary<Result>,
      fc.Arbitrary<Result>,
    ]),
  ),
  matrix: fc.record(
    {
      n: fc.constantFrom(0, 3.1, 18, 20),
      os: fc.constantFrom("ubuntu-latest", "macos-latest"),
      flag: fc.boolean(),
      extra: fc.constant("x"),
    },
    { requiredKeys: ["n", "os", "flag"] },
  ),
  env: fc.constantFrom("", "fast"),
});

const WRITTEN = [
  ...["github.sha", "github.ref", "github.ref_name", "github.ref_type", "github.head_ref", "github.base_ref"],
  ...["github.event_name", "github.repository", "github.workflow", "github.job", "GitHub.SHA", "github['ref']"],
  "github.ref == 'refs/heads/main'",
  "'refs/heads/main' != github.ref",
  "github.ref == 'REFS/HEADS/MAIN'",
  "github.ref == 'refs/pull/5/merge'",
  "github.ref == 'refs/tags/v1.2'",
  "startsWith(github.ref, 'refs/tags/')",
  "startsWith(github.ref, 'refs/heads/')",
  "startsWith(github.ref, 'refs/pull/')",
  "endsWith(github.ref, '/merge')",
  "contains(github.ref, 'main')",
  "github.ref_name == 'main'",
  "github.ref_name != '5/merge'",
  "github.ref_type == 'tag'",
  "github.ref_type != 'branch'",
  ...["push", "pull_request", "schedule", "workflow_dispatch", "merge_group", "release"].flatMap((event) => [
    `github.event_name == '${event}'`,
    `github.event_name != '${event}'`,
    `!(github.event_name == '${event}')`,
  ]),
  'contains(fromJSON(\'["push", "pull_request"]\'), github.event_name)',
  "github.repository_owner == 'acme'",
  "github.repository_owner != 'Acme'",
  "github.repository == 'ACME/shop' && github.head_ref == 'main'",
  "github.head_ref || github.ref_name",
  "github.event.pull_request.head.repo.full_name == github.repository",
  "github.event.pull_request.head.repo.full_name != github.repository",
  "'acme/shop' == github.event.pull_request.head.repo.full_name",
  "github.event.pull_request.head.repo.full_name == github.event.pull_request.base.repo.full_name",
  "github.event.pull_request.base.repo.full_name != github.event.pull_request.head.repo.full_name",
  "github.event.pull_request.head.repo.owner.login == github.repository_owner",
  "github.event_name == 'push' || github.event.pull_request.head.repo.full_name != github.repository",
  "github.event_name != 'pull_request' || github.event.pull_request.head.repo.fork == false",
  "github.event.pull_request.head.repo.fork",
  "github.event.pull_request.head.repo.fork == true",
  "github.event.pull_request.head.repo.fork == false",
  "!github.event.pull_request.head.repo.fork",
  "github.event.pull_request.number || github.ref",
  "github.event.pull_request.head.sha",
  "contains(github.event.head_commit.message, 'fix')",
  "format('{0}-{1}', github.workflow, github.ref)",
  "runner.os",
  "runner.os == 'Linux'",
  "runner.os != 'windows'",
  "startsWith(runner.os, 'mac')",
  "matrix.n",
  "matrix.n == 18",
  "matrix.n == '18'",
  "matrix.n == '18.0'",
  "matrix.n == 3.10",
  "matrix.n == '3.10'",
  "matrix.n == ''",
  "matrix.n != 'lts'",
  "matrix.n > 9",
  "matrix.n >= '9'",
  "matrix.n < matrix.N",
  "!matrix.n",
  "matrix.n && 'some' || 'none'",
  "toJSON(matrix.n)",
  "contains(matrix.n, '1')",
  "matrix.os == 'UBUNTU-latest'",
  "matrix.flag",
  "!matrix.flag && matrix.os",
  "matrix.flag == true",
  "matrix.extra == 'x'",
  "matrix.extra != null",
  "matrix.extra == ''",
  "matrix.missing",
  "matrix.missing || 'x'",
  "needs.build.result",
  ...["success", "failure", "cancelled", "skipped", "Skipped", "dropped"].flatMap((result) => [
    `needs.build.result == '${result}'`,
    `needs.lint.result != '${result}'`,
    `contains(needs.*.result, '${result}')`,
  ]),
  "needs.build.result == needs.lint.result",
  "fromJSON(needs.build.outputs.LIST)[0]",
  "needs.build.outputs.none",
  "needs.other.result == 'success'",
  "steps.one.outcome == 'failure' && steps.ONE.conclusion == 'success'",
  "steps.one.outputs.a == 'b'",
  "steps.hit.outputs.cache-hit != 'true'",
  "steps.none.outputs.a",
  "env.MODE == 'fast'",
  "env.mode || 'slow'",
  "env.OTHER",
  "job.status == 'success'",
  "success() && github.ref_name == 'main'",
  "always() && (needs.build.result == 'skipped' || failure())",
  "!cancelled()",
  "case(github.ref == 'refs/heads/main', 'a', 'b')",
  "join(fromJSON('[1, 2]'), '-')",
  "0xff == 255",
  "'it''s' == 'IT''S'",
];

describe("an expression and its translation", () => {
  it.each(WRITTEN)("mean the same: %s", (text) => {
    // The translation rejects `fromJSON(...)[0]`, because its index is not a name.
    if (text.startsWith("fromJSON")) return expect(() => translateExpression(text, NAMES)).toThrow(NoEqual);
    const made = { text: translateExpression(text, NAMES), condition: translateCondition(text, NAMES) };
    fc.assert(
      fc.property(fc.constantFrom(...SITUATIONS), rests, (situation, rest) => {
        expect(difference(text, made, situation, rest)).toBeNull();
      }),
      { numRuns: 150 },
    );
  });

  it("mean the same in combination", () => {
    const atoms = fc.constantFrom(
      ...WRITTEN.filter((text) => !text.startsWith("fromJSON") && !text.startsWith("toJSON")),
    );
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        atoms.map((one) => `(${one})`),
        fc
          .tuple(tie("tree"), fc.constantFrom("&&", "||", "==", "!="), tie("tree"))
          .map(([a, sign, b]) => `(${a} ${sign} ${b})`),
        tie("tree").map((one) => `!${one}`),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(...SITUATIONS), rests, (text, situation, rest) => {
        let made: string;
        try {
          made = translateCondition(text, NAMES);
        } catch (error) {
          if (error instanceof NoEqual) return;
          throw error;
        }
        const value = there(text, situation, rest);
        const usesStatus = /\b(?:success|failure|cancelled|always)\(/i.test(text);
        const expected = (usesStatus || rest.status === "success") && !falsy(value);
        expect([made, evaluateCondition(parseExpression(made), scopeHere(situation, rest))]).toEqual([made, expected]);
      }),
      { numRuns: 2000 },
    );
  });

  // GitHub also builds the push of such a branch, and the condition excludes one of the two. Here there is one build.
  it.each([
    "github.event_name == 'push' || github.event.pull_request.head.repo.full_name != github.repository",
    "github.event.pull_request.head.repo.full_name != github.repository || github.event_name == 'push'",
    "(github.event_name != 'pull_request') || (github.event.pull_request.head.repo.full_name != 'acme/shop')",
    "github.event_name == 'push' || !(github.event.pull_request.head.repo.full_name == github.repository)",
    "github.event_name != 'pull_request' || github.event.pull_request.head.repo.fork",
    "!(github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository)",
  ])("holds once for each commit: %s", (text) => {
    const isTrue = (pushes: Names["pushes"], situation: Situation) => {
      const condition = parseExpression(translateCondition(text, { ...NAMES, pushes }));
      return evaluateCondition(condition, scopeHere(situation, { ...REST, status: "success" }));
    };
    const builds = SITUATIONS.filter(({ build }) => build.event === "push" || build.event === "pull");
    expect(builds.map((one) => isTrue("all", one))).toEqual(builds.map(() => true));
    // Where pushes do not build, GitHub also excludes the repository's own pull request.
    expect(builds.filter((one) => !isTrue("none", one)).map(({ name }) => name)).toEqual([OWN_PULL]);
    expect(() => isTrue("some", builds[0]!)).toThrow(NoEqual);
  });

  it.each([
    ["github.event.pull_request.head.repo.full_name == github.repository", "build.event == 'pull'"],
    ["github.event.pull_request.head.repo.full_name != github.repository", "build.event != 'pull'"],
    ["!github.event.pull_request.head.repo.fork", "!false"],
    ["github.ref == 'refs/heads/main'", "build.ref == 'refs/heads/main'"],
    ["github.event_name == 'push'", "build.event == 'push'"],
    ["needs.build.result == 'skipped'", "needs.build.result == 'skipped'"],
    ["matrix.n == '3.10'", "matrix.n == '3.10'"],
    ["!matrix.n", "!matrix.n"],
    ["runner.os", "agent.platform"],
    ["github.ref_name", "build.branch"],
  ])("would be seen to differ: %s as %s", (text, wrong) => {
    const all = SITUATIONS.flatMap((situation) =>
      fc
        .sample(rests, { numRuns: 200, seed: 1 })
        .map((rest) => difference(text, { text: wrong, condition: wrong }, situation, rest)),
    );
    expect(all.some((one) => one !== null)).toBe(true);
  });

  it.each([
    ...["github.actor", "github.token", "secrets.GITHUB_TOKEN", "github", "toJSON(github)", "github.event.label.name"],
    ...[
      "hashFiles('a')",
      "inputs.x",
      "runner.temp",
      "strategy.job-index",
      "needs.*.outputs.x",
      "matrix",
      "env",
      "secrets",
    ],
    ...[
      "secrets[format('A_{0}', github.job)]",
      "github[matrix.os]",
      "steps.*.outcome",
      "github.event.pull_request.labels.*.name",
    ],
  ])("has none: %s", (text) => {
    expect(() => translateExpression(text, NAMES)).toThrow(NoEqual);
  });
});
