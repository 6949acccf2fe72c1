import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatMistake } from "../../../src/pipeline/mistake.ts";
import { unknownVariables } from "../../../src/pipeline/parse/known-variables.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import type { Plan } from "../../../src/pipeline/parse/plan.ts";
import { planOfJob } from "../../../src/pipeline/parse/plan-contents.ts";
import {
  afterStep,
  INITIAL_JOB_STATE,
  type JobContext,
  type JobState,
} from "../../../src/pipeline/prepare/job-context.ts";
import { outputsOfJob } from "../../../src/pipeline/prepare/job-outputs.ts";
import { prepareStep, type StepToRun } from "../../../src/pipeline/prepare/prepare-step.ts";
import { BY_REQUEST } from "../../support/build-facts.ts";

const planOf = (file: string): Plan => {
  const { plan, mistakes } = parsePlan(file);
  if (!plan) throw new Error(JSON.stringify(mistakes));
  return plan;
};

const facts = (more: Partial<JobContext> = {}): JobContext => ({
  ...{ env: {}, secretKeys: [], runKeys: [] },
  build: { id: "b", number: 1, branch: "main", commit: null, message: null, attempt: 1, ...BY_REQUEST },
  repository: { id: "r", fullName: "acme/app", cloneUrl: "https://host/app.git" },
  agent: { id: "a", name: "agent", platform: "linux" },
  ...{ matrix: null, needs: {} },
  ...more,
});

const jobIn = (plan: Plan, key: string) => plan.jobs!.find((one) => one.key === key)!;

/** Returns the first step of a job, ready to run. */
const stepOf = (plan: Plan, key: string, more: Partial<JobContext>): StepToRun => {
  const step = prepareStep(planOfJob(plan, jobIn(plan, key)), 0, facts(more), INITIAL_JOB_STATE);
  if (step.kind !== "run") throw new Error(JSON.stringify(step));
  return step;
};

const ended = { result: "success", outcome: "success" } as const;

describe("the steps of one of several jobs", () => {
  const FILE = `
env: { A: file, B: file }
defaults: { run: { shell: sh, working-directory: app } }
timeout-minutes: 9
checkout: { depth: 0, lfs: true }
jobs:
  build: { outputs: { v: "1" }, steps: [{ run: x }] }
  test: { matrix: { os: [a] }, outputs: { n: "2" }, steps: [{ run: x }] }
  all:
    needs: [build, test]
    env: { B: "job-\${{ A }}-\${{ matrix.os }}" }
    matrix: { os: [mac], include: [{ os: mac, ios: true }] }
    defaults: { run: { shell: bash } }
    checkout: { depth: 2 }
    steps:
      - env: { V: "\${{ needs.build.outputs.v }}", W: "\${{ needs.build.outputs.v || 'none' }}", X: "\${{ matrix.ios }}" }
        if: needs.test.jobs[0].matrix.os == 'a' && needs.build.result == 'success'
        run: echo \${{ needs.test.jobs[0].outputs.n }} \${{ toJSON(needs.test.jobs) }}
  bare: { checkout: false, steps: [{ run: x }] }
`;
  const needs: JobContext["needs"] = {
    build: { ...ended, outputs: { v: "1.0" }, jobs: [{ ...ended, matrix: null, outputs: { v: "1.0" } }] },
    test: { ...ended, outputs: null, jobs: [{ ...ended, matrix: { os: "a" }, outputs: { n: "2" } }] },
  };

  it("read their matrix, the needed jobs, and the file's settings for all jobs", () => {
    const plan = planOf(FILE);
    const step = stepOf(plan, "all", { matrix: { os: "mac", ios: true }, needs });
    expect(step).toMatchObject({
      ...{ shell: "bash", workingDirectory: "app" },
      env: { A: "file", B: "job-file-mac", V: "1.0", W: "1.0", X: "true", MILLRACE_EXPR_1: "2" },
    });
    expect(JSON.parse(step.env.MILLRACE_EXPR_2 ?? "")).toEqual([
      { matrix: { os: "a" }, ...ended, outputs: { n: "2" } },
    ]);
    expect(planOfJob(plan, jobIn(plan, "all")).job).toMatchObject({
      ...{ timeoutMinutes: 9, requires: {}, checkout: { depth: 2, lfs: true } },
    });
    expect(stepOf(plan, "build", {})).toMatchObject({ shell: "sh", env: { A: "file", B: "file" } });
    expect(planOfJob(plan, jobIn(plan, "bare")).job.checkout).toBe(false);
  });

  it("read missing outputs as null, and do not merge those of a matrix", () => {
    const plan = planOf(FILE);
    const without = { ...needs, build: { ...needs.build!, result: "skipped" as const, outputs: {} } };
    const step = prepareStep(planOfJob(plan, jobIn(plan, "all")), 0, facts({ needs: without }), INITIAL_JOB_STATE);
    expect(step.kind).toBe("skip");
    const file = `jobs: { t: { matrix: { os: [a] }, steps: [{ run: x }] }, a: { needs: [t], steps: [{ run: "echo \${{ needs[format('t')].outputs.n }}" }] } }`;
    const dynamic = planOf(file);
    const wrong = prepareStep(
      planOfJob(dynamic, jobIn(dynamic, "a")),
      0,
      facts({ needs: { t: needs.test! } }),
      INITIAL_JOB_STATE,
    );
    expect(wrong).toMatchObject({ kind: "mistake", mistake: { message: expect.stringContaining("read its `jobs`") } });
  });

  it("are checked against the existing variables", () => {
    const plan = planOf(`
jobs:
  a:
    name: \${{ vars.NOPE }}
    if: vars.TOKEN && vars.NOPE
    env: { C: "\${{ B }}" }
    outputs: { o: "\${{ C }}\${{ D }}" }
    steps: [{ run: "echo \${{ C }} \${{ E }}" }]
  b: { matrix: { v: [1] }, name: "\${{ matrix.v }}\${{ vars.PLAIN }}", steps: [{ run: "echo \${{ secrets.TOKEN }}" }] }
`);
    expect(
      unknownVariables(plan, { vars: ["PLAIN"], secrets: ["TOKEN"] }).map((one) => formatMistake("f", one)),
    ).toEqual([
      "f:4:20: There is no variable with this name",
      "f:5:14: This is a secret, which only steps can read",
      "f:6:20: There is no variable with this name",
      "f:7:32: There is no variable with this name",
      "f:8:39: There is no variable with this name",
    ]);
  });
});

describe("the outputs of a job", () => {
  const FILE = `jobs: { a: { env: { A: e }, outputs: { one: "\${{ steps.s.outputs.x }}", two: "\${{ A }}-\${{ secrets.T || 'no' }}" }, steps: [{ id: s, run: x }] } }`;
  const after = (x: string): JobState =>
    afterStep(
      INITIAL_JOB_STATE,
      { continueOnError: false },
      { outcome: "success", exitCode: 0, outputs: { x }, env: {}, path: [] },
    );
  const outputs = (x: string, more: Partial<JobContext> = {}, file = FILE) => {
    const plan = planOf(file);
    return outputsOfJob(plan, jobIn(plan, "a"), facts(more), after(x));
  };

  it("are computed after its steps, and say which come from a secret", () => {
    expect(outputs("line\nline 2")).toEqual({ outputs: { one: "line\nline 2", two: "e-no" }, fromSecrets: [] });
    expect(outputs("x", { env: { T: "s3cret" }, secretKeys: ["T"] })).toEqual({
      ...{ outputs: { one: "x", two: "e-s3cret" }, fromSecrets: ["two"] },
    });
  });

  it.each([
    ["a NUL", "a\0b", "The result has a NUL character"],
    ["half a character", "\ud800", "The output `one` is not valid Unicode"],
    ["one byte too many", "x".repeat(65_536 - "one".length + 1), "With `one` the outputs have more than 65,536 bytes"],
    ["bytes too many in few characters", "é".repeat(32_768), "With `one` the outputs have more than 65,536 bytes"],
  ])("with %s are a mistake at the output", (_, value, message) => {
    expect(outputs(value).mistake).toMatchObject({ line: 1, message });
  });

  it("may be as large as the limit", () => {
    const rest = "onetwoe-no".length;
    expect(outputs("x".repeat(65_536 - rest)).mistake).toBeUndefined();
    expect(outputs("x".repeat(65_536 - rest + 1)).mistake?.message).toContain("With `two`");
  });

  it("may have names of Object.prototype", () => {
    const file = `jobs: { a: { outputs: { constructor: "\${{ steps.s.outputs.x }}" }, steps: [{ id: s, run: x }] } }`;
    expect(outputs("v", {}, file).outputs).toEqual({ constructor: "v" });
  });
});

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "matrix-by-reference-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const PIECES = [
  "$(touch marker)",
  "`touch marker`",
  "; touch marker;",
  "'",
  '"',
  "\\",
  "$",
  "\n",
  "&& touch marker",
  "é🎉",
  " ",
  "*",
  "}}",
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "grapheme" })), { maxLength: 5 })
  .map((parts) => parts.join("").replaceAll("\0", "").replaceAll("${{", "").slice(0, 200).toWellFormed());
const bash = (script: string, env: Record<string, string>) =>
  spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", ...env },
  });

describe("hostile values of a matrix, and outputs of other jobs", () => {
  it("run nothing in bash and arrive byte for byte", () => {
    const run =
      'printf \'%s\\0\' ${{ matrix.v }} "${{ needs.n.outputs.o }}" "$FROM_ENV" "${{ needs.n.jobs[0].matrix.v }}"';
    const step = { run, env: { FROM_ENV: "<${{ matrix.v }}>" } };
    fc.assert(
      fc.property(hostile, hostile, (value, output) => {
        const file = JSON.stringify({
          jobs: {
            n: { outputs: { o: "x" }, steps: [{ run: "x" }] },
            a: { matrix: { v: [value] }, needs: ["n"], steps: [step] },
          },
        });
        const plan = planOf(file);
        const [matrix] = jobIn(plan, "a").matrix!.combinations;
        expect(matrix).toEqual({ v: value });
        const need = { ...ended, matrix: { v: output }, outputs: { o: output } };
        const needs = { n: { ...ended, outputs: { o: output }, jobs: [need] } };
        const { script, env } = stepOf(plan, "a", { matrix: matrix!, needs });
        expect(bash(script, env).stdout.toString()).toBe(`${value}\0${output}\0<${value}>\0${output}\0`);
        expect(readdirSync(folder)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it("fail the test if they are pasted into the script", () => {
    bash("printf '%s' @".replace("@", "$(touch marker)"), {});
    expect(readdirSync(folder)).toEqual(["marker"]);
    rmSync(join(folder, "marker"));
  });
});
