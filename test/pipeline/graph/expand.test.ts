import { describe, expect, it } from "vitest";
import { type ExpandOptions, expand } from "../../../src/pipeline/graph/expand.ts";
import type { GraphJob } from "../../../src/pipeline/graph/graph.ts";
import { collectQuestions } from "../../../src/pipeline/graph/questions.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import type { Plan } from "../../../src/pipeline/parse/plan.ts";

const planOf = (file: string): Plan => {
  const { plan, mistakes } = parsePlan(file);
  if (!plan) throw new Error(JSON.stringify(mistakes));
  return plan;
};

const options = (more: Partial<ExpandOptions> = {}): ExpandOptions => {
  let ids = 0;
  return {
    facts: { build: { branch: "main", event: "push" }, repository: { fullName: "acme/app" }, vars: {}, changed: {} },
    ...{ hash: "h", path: ".millrace.yml", commitSha: "c0ffee", requires: {}, timeoutSeconds: 3600 },
    newId: () => `id-${ids++}`,
    ...more,
  };
};

const graphOf = (file: string, more: Partial<ExpandOptions> = {}) => {
  const { graph, mistakes } = expand(planOf(file), options(more));
  if (!graph) throw new Error(JSON.stringify(mistakes));
  return graph;
};
const jobsOf = (file: string, more: Partial<ExpandOptions> = {}): GraphJob[] => graphOf(file, more).jobs;
const told = (file: string, more: Partial<ExpandOptions> = {}): string[] =>
  (expand(planOf(file), options(more)).mistakes ?? []).map((one) => `${one.line}:${one.column} ${one.message}`);

const onBranch = (branch: string): Partial<ExpandOptions> => ({ facts: { ...options().facts, build: { branch } } });
const withVars = (vars: Record<string, string>): Partial<ExpandOptions> => ({ facts: { ...options().facts, vars } });

const RELEASE = `
env: { A: x }
requires: { platform: macos, labels: [fast] }
timeout-minutes: 90
fail-fast: true
jobs:
  release:
    needs: [test, { job: lint, optional: true }]
    if: \${{ needs.lint.result == 'success' && changed('src/**', '!src/docs/**') && vars.GO }}
    gate: { message: "Release \${{ build.branch }}?", by: admin, timeout-hours: 48, host-status: pending }
    concurrency: { group: "deploy-\${{ build.branch }}", limit: 2, when-busy: cancel-running }
    groups: [release]
    timeout-minutes: 5
    steps: [{ run: ./deploy.sh }]
  lint:
    requires: { platform: linux, labels: [] }
    steps: [{ run: npm run lint }]
  test:
    name: Test on Xcode \${{ matrix.xcode }}, \${{ matrix.device }}
    matrix:
      xcode: [16.4, 26.10]
      device: [phone, tablet]
      exclude: [{ xcode: 16.4, device: tablet }]
      include: [{ xcode: 26.10, device: phone, coverage: true }]
    max-parallel: 2
    fail-fast: true
    continue-on-error: \${{ matrix.device == 'tablet' }}
    requires: { ios: "\${{ matrix.coverage }}", labels: ["xcode-\${{ matrix.xcode }}"] }
    steps: [{ run: './test.sh "\${{ matrix.device }}"' }]
`;

describe("expanding a file", () => {
  it("creates a job for each combination, after all its needs", () => {
    const graph = graphOf(RELEASE);
    expect(graph).toMatchObject({ hash: "h", path: ".millrace.yml", commitSha: "c0ffee", failFast: true });
    expect(graph.jobs.map(({ id, key, name }) => [id, key, name])).toEqual([
      ["id-0", "lint", "lint"],
      ["id-1", "test (16.4, phone)", "Test on Xcode 16.4, phone"],
      ["id-2", "test (26.10, phone)", "Test on Xcode 26.10, phone"],
      ["id-3", "test (26.10, tablet)", "Test on Xcode 26.10, tablet"],
      ["id-4", "release", "release"],
    ]);
    const [lint, , phone, tablet, release] = graph.jobs;
    expect(phone).toMatchObject({
      matrix: { xcode: "26.10", device: "phone", coverage: true },
      ...{ definition: "test", mayFail: false, failFast: true, maxParallel: 2, timeoutSeconds: 3600, hasSteps: true },
      requires: { platform: "macos", ios: true, labels: ["xcode-26.10"] },
    });
    expect(tablet).toMatchObject({ mayFail: true, requires: { ios: null } });
    expect(lint).toMatchObject({ matrix: null, condition: null, requires: { platform: "linux", labels: [] } });
    expect(release).toMatchObject({
      needs: [
        { definition: "test", isOptional: false },
        { definition: "lint", isOptional: true },
      ],
      condition: "needs.lint.result == 'success' && changed('src/**', '!src/docs/**') && vars.GO",
      gate: { message: "Release main?", by: "admin", timeoutHours: 48, hostStatus: "pending" },
      concurrency: { group: "deploy-main", limit: 2, whenBusy: "cancel-running" },
      ...{ groups: ["release"], timeoutSeconds: 300, requires: { platform: "macos", labels: ["fast"] } },
    });
  });

  it("includes the pipeline's requirements and timeout", () => {
    const [, test] = jobsOf(RELEASE.replace("platform: linux", "web: true"), {
      ...{ requires: { platform: "macos", android: true, labels: ["gpu"] }, timeoutSeconds: 60 },
    });
    expect(test).toMatchObject({
      ...{ timeoutSeconds: 60, requires: { platform: "macos", android: true, labels: ["gpu", "xcode-16.4"] } },
    });
    expect(told(RELEASE, { requires: { platform: "linux" } })).toEqual([
      "7:3 The pipeline and this job require different platforms or Xcodes: no agent has both",
      "18:3 The pipeline and this job require different platforms or Xcodes: no agent has both",
    ]);
  });

  it("creates one job with its groups from a file of steps", () => {
    const file = "groups: [release]\nrequires: { ios: true }\ntimeout-minutes: 1\nsteps: [{ run: x }]";
    expect(jobsOf(file)).toMatchObject([
      {
        ...{ id: "id-0", key: "build", definition: "build", needs: [], condition: null, groups: ["release"] },
        ...{ requires: { ios: true }, timeoutSeconds: 60, hasSteps: true, gate: null, matrix: null },
      },
    ]);
    expect(
      told(`requires: { platform: linux }\n${file.replace(/requires.*\n/, "")}`, { requires: { platform: "macos" } }),
    ).toEqual(["1:1 The pipeline and the file require different platforms: no agent has both"]);
  });

  it("requires the changed files and the variables", () => {
    const file = RELEASE.replace("ios.sh", "")
      .replace("limit: 2", "limit: 2")
      .replace("name: Test", "name: ${{ vars['N'] }}");
    expect(collectQuestions(planOf(file))).toEqual({ changed: ["src/**\n!src/docs/**"], vars: ["GO", "N"] });
    expect(collectQuestions(planOf("steps: [{ run: x, if: changed('a') && vars.X }]"))).toEqual({
      changed: [],
      vars: [],
    });
  });

  it("cannot use changed() without a commit", () => {
    expect(told(RELEASE, { path: null })).toEqual([
      "9:13 Only a file in the repository can use changed() before its jobs run: write it in the `if` of a step",
    ]);
  });
});

const one = (body: string): string => `jobs: { a: { steps: [{ run: x }], ${body} } }`;
const matrix = (values: string): string => one(`matrix: ${values}`);
const keys = (values: string): string[] => jobsOf(matrix(values)).map(({ key }) => key);

describe("the keys of a matrix", () => {
  it.each([
    ["{ v: [3.10, 3.9, 0x10, 1e3, true, yes, '', 'a b'] }", ["3.10", "3.9", "0x10", "1e3", "true", "yes", "", "a b"]],
    ["{ v: [a], include: [{ v: a, more: x }, { v: b, more: y }] }", ["a", "b"]],
    ["{ include: [{ os: a, v: 1 }, { os: a, v: 2 }] }", ["a, 1", "a, 2"]],
    ["{ v: [a], include: [{ w: x }, { v: b, w: 1 }, { v: b, w: 2 }] }", ["a", "b, 1", "b, 2"]],
    ["{ v: [a, a, a] }", ["a", "a) #2", "a) #3"]],
    ["{ v: [true, 'true'] }", ["true", "true) #2"]],
    ["{ v: ['a, b', a], w: [c, 'b, c'] }", ["a, b, c", "a, b, b, c", "a, c", "a, b, c) #2"]],
    ['{ v: ["a\\nb\\e[31m"] }', ["a b [31m"]],
  ])("are unique and derived from its values: %s", (values, expected) => {
    expect(keys(values)).toEqual(expected.map((value) => (value.includes(")") ? `a (${value}` : `a (${value})`)));
  });

  it("are cut if they are long, and still unique", () => {
    const long = "x".repeat(199);
    const found = keys(`{ v: [${long}1, ${long}2, ${"😀".repeat(100)}] }`);
    expect(new Set(found).size).toBe(3);
    for (const key of found) {
      expect(key.length).toBeLessThan(210);
      expect(key.isWellFormed()).toBe(true);
    }
  });
});

describe("an expression of a job itself", () => {
  it.each([
    ["name: '${{ vars.NOPE }}'", "1:51 There is no variable with this name"],
    ["name: '${{ vars.LONG }}'", "1:46 The name of a job has at most 200 characters"],
    ["name: '${{ fromJSON(vars.LONG) }}'", "1:46 The text passed to fromJSON() is not JSON"],
    ["name: '${{ build }}'", "1:46 This is an object or array: write toJSON(...) to make it text"],
    ["continue-on-error: '${{ build.branch }}'", "1:59 The result must be true or false"],
    ["requires: { platform: '${{ build.branch }}' }", "1:62 The result must be one of: macos, linux"],
    [
      "requires: { platform: \"${{ format('windows') }}\" }",
      "1:62 There is no agent for Windows: write macos or linux",
    ],
    ["requires: { labels: ['${{ build.ref }}'] }", "1:61 A label must be 1 to 100 of A-Z a-z 0-9 _ . : / = -"],
    ["requires: { ios: '${{ build.branch }}' }", "1:57 The result must be true or false"],
    [
      "concurrency: { group: '${{ build.ref }}' }",
      "1:62 A group has 1 to 100 characters in one line, no space around them",
    ],
    [
      "concurrency: { group: '${{ vars.LONG }}' }",
      "1:62 A group has 1 to 100 characters in one line, no space around them",
    ],
    ["concurrency: { group: ' a' }", "1:57 A group has 1 to 100 characters in one line, no space around them"],
  ])("is a mistake at its place if it cannot be used: %s", (body, message) => {
    expect(told(one(body), withVars({ LONG: "x".repeat(201) }))).toEqual([message]);
  });

  it("is reported once for 256 combinations", () => {
    const values = Array.from({ length: 64 }, (_, index) => index);
    const file = one(`matrix: { v: [${values}], w: [1, 2, 3, 4] }, name: '\${{ vars.NOPE }}'`);
    expect(told(file)).toHaveLength(1);
  });

  it("treats a malicious branch as text", () => {
    const file = one("name: 'On ${{ build.branch }}', concurrency: { group: 'on ${{ build.branch }}' }");
    for (const branch of ["$(reboot)", "`id`", "'; rm -rf /", '"', "<script>", "__proto__"])
      expect(jobsOf(file, onBranch(branch))).toMatchObject([
        { name: `On ${branch}`, concurrency: { group: `on ${branch}` } },
      ]);
    expect(told(file, onBranch("b".repeat(10_000)))).toHaveLength(1);
  });

  it("has its message in full, up to its limit", () => {
    const file = one("gate: { message: '${{ build.branch }}' }");
    expect(jobsOf(file, onBranch("b".repeat(5000)))[0]?.gate?.message).toHaveLength(1000);
  });
});

describe("a file built to be expensive", () => {
  const values = Array.from({ length: 64 }, (_, index) => index);
  const wide = `matrix: { v: [${values}], w: [1, 2, 3, 4] }`;
  const bomb = (inner: string, times: number): string => `format('${"{0}".repeat(times)}', ${inner})`;

  it("with growing texts is rejected before all of them are computed", () => {
    const grown = bomb(bomb(bomb("matrix.v", 60), 60), 15);
    expect(told(one(`${wide}, name: "\${{ ${grown} }}"`))).toHaveLength(1);
    expect(told(one(`${wide}, name: "\${{ contains(${grown}, 'x') }}"`))).toEqual([
      expect.stringContaining("The expressions of all jobs together produce too much text"),
    ]);
    const many = Array.from({ length: 20 }, () => `"x-\${{ contains(${bomb(bomb("matrix.v", 60), 60)}, 'x') }}"`);
    expect(told(one(`${wide}, requires: { labels: [${many.join(", ")}] }`))).toHaveLength(1);
  });

  it("with repetition in every job is rejected at the job that exceeds the limit", () => {
    const condition = `vars.A == '${"x".repeat(20_000)}'`;
    expect(told(one(`${wide}, if: "${condition}"`))).toEqual([
      expect.stringMatching(/^1:9 The jobs up to here have more than 1,048,576 bytes$/),
    ]);
    expect(told(one(`${wide}, if: "vars.A == '${"x".repeat(1000)}'"`))).toEqual([]);
    expect(told(one(`name: x`), withVars({ A: "x".repeat(1024 * 1024) }))).toHaveLength(1);
  });
});
