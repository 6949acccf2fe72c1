import { describe, expect, it } from "vitest";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import type { Plan } from "../../../src/pipeline/parse/plan.ts";
import {
  afterCancel,
  afterStep,
  INITIAL_JOB_STATE,
  type JobContext,
  type JobState,
  type StepEnd,
} from "../../../src/pipeline/prepare/job-context.ts";
import { type PreparedStep, prepareStep, stepNames } from "../../../src/pipeline/prepare/prepare-step.ts";
import { BY_REQUEST } from "../../support/build-facts.ts";

const CONTEXT: JobContext = {
  env: { CI: "true", PLAIN: "plain", TOKEN: "s3cret", RUN: "of the run", constructor: "c" },
  secretKeys: ["TOKEN"],
  runKeys: ["RUN"],
  build: { id: "b", number: 7, branch: "main", commit: "c0ffee", message: "fix: it", attempt: 2, ...BY_REQUEST },
  repository: { id: "r", fullName: "acme/app", cloneUrl: "https://host/app.git" },
  agent: { id: "a", name: "mac-1", platform: "macos" },
};

const planOf = (file: string): Plan => {
  const { plan, mistakes } = parsePlan(file);
  if (!plan) throw new Error(JSON.stringify(mistakes));
  return plan;
};
const prepare = (file: string, state: JobState = INITIAL_JOB_STATE, index = 0, context = CONTEXT): PreparedStep =>
  prepareStep(planOf(file), index, context, state);
const running = (...args: Parameters<typeof prepare>) => {
  const step = prepare(...args);
  if (step.kind !== "run") throw new Error(JSON.stringify(step));
  return step;
};
const ended = (more: Partial<StepEnd> = {}): StepEnd => ({
  outcome: "success",
  exitCode: 0,
  outputs: {},
  env: {},
  path: [],
  ...more,
});
const STEP = { continueOnError: false };

describe("changed() in a condition", () => {
  it("uses the files in the job's context, and is true without them", () => {
    const file = "steps: [{ if: changed('docs/**'), run: x }]";
    const kind = (changedFiles: string[] | null) =>
      prepare(file, INITIAL_JOB_STATE, 0, { ...CONTEXT, changedFiles }).kind;
    expect([kind(["docs/a.md"]), kind(["src/a.ts"]), kind(null), prepare(file).kind]).toEqual([
      ...["run", "skip", "run", "run"],
    ]);
  });
});

describe("the environment of a step", () => {
  it("is composed < the file's < MILLRACE_ENV < the step's < the run's", () => {
    const file = `
env: { PLAIN: file, A: "\${{ PLAIN }}", B: "\${{ A }}!", RUN: file, E: file, S: file }
steps:
  - env: { S: step, RUN: step, C: "\${{ env.E }} \${{ env.S }} \${{ RUN }}" }
    run: "true"
`;
    const state = afterStep(INITIAL_JOB_STATE, STEP, ended({ env: { E: "written", S: "written", RUN: "written" } }));
    const plan = planOf(file);
    const { env } = running(file, { ...state, steps: [] });
    expect(env).toEqual({
      ...{ CI: "true", TOKEN: "s3cret", constructor: "c" },
      ...{
        PLAIN: "file",
        A: "file",
        B: "file!",
        RUN: "of the run",
        E: "written",
        S: "step",
        C: "written step of the run",
      },
    });
    expect(stepNames(plan)).toEqual(["true"]);
  });

  it("keeps text as written", () => {
    const { env } = running("env: { A: 1.10, B: 0755, C: true, D: '', E: 1e3, F: null-ish }\nsteps: [{ run: x }]");
    expect(env).toMatchObject({ A: "1.10", B: "0755", C: "true", D: "", E: "1e3", F: "null-ish" });
  });

  it("has names of Object.prototype", () => {
    const file = "env: { toString: a }\nsteps: [{ run: 'echo ${{ constructor }}${{ env.toString }}${{ valueOf }}' }]";
    const state = afterStep(INITIAL_JOB_STATE, STEP, ended({ env: JSON.parse('{"__proto__":"p","valueOf":"v"}') }));
    const { env } = running(file, { ...state, steps: [] });
    expect(Object.entries(env)).toEqual(
      expect.arrayContaining([
        ["toString", "a"],
        ["__proto__", "p"],
        ["MILLRACE_EXPR_1", "c"],
        ["MILLRACE_EXPR_2", "a"],
        ["MILLRACE_EXPR_3", "v"],
      ]),
    );
  });
});

describe("a step to run", () => {
  const FILE = `
defaults: { run: { shell: sh, working-directory: "app/\${{ PLAIN }}" } }
steps:
  - name: Deploy \${{ build.number }} with \${{ TOKEN }}
    timeout-minutes: 5
    continue-on-error: true
    run: deploy \${{ secrets.TOKEN }} "\${{ format('{0}@{1}', TOKEN, agent.platform) }}"
  - shell: bash
    working-directory: \${{ vars.NOPE || '' }}
    run: |

      # first
      second
`;
  it("has all expressions evaluated, and values from secrets among its masks", () => {
    expect(running(FILE)).toEqual({
      kind: "run",
      name: "Deploy 7 with ***",
      shell: "sh",
      script: 'deploy "${MILLRACE_EXPR_1}" "${MILLRACE_EXPR_2}"',
      env: { ...CONTEXT.env, MILLRACE_EXPR_1: "s3cret", MILLRACE_EXPR_2: "s3cret@macos" },
      workingDirectory: "app/plain",
      timeoutMinutes: 5,
      retry: null,
      path: [],
      continueOnError: true,
      masks: ["s3cret", "s3cret@macos"],
    });
    expect(running(FILE, INITIAL_JOB_STATE, 1)).toMatchObject({
      name: "# first",
      shell: "bash",
      workingDirectory: null,
      masks: [],
    });
  });

  it.each([
    ["/etc", "A working-directory is relative to the checkout: it must not begin with /"],
    ["a/../../..", "A working-directory is inside the checkout: it must not have .. in it"],
  ])("does not leave the checkout for an expression's value: %s", (folder, message) => {
    const file = "steps:\n  - run: a\n    working-directory: ${{ vars.WHERE }}\n";
    const context = { ...CONTEXT, env: { ...CONTEXT.env, WHERE: folder } };
    expect(prepare(file, INITIAL_JOB_STATE, 0, context)).toMatchObject({
      kind: "mistake",
      mistake: { line: 3, message },
    });
    expect(prepare(file, INITIAL_JOB_STATE, 0, { ...context, env: { WHERE: "a..b/..c" } })).toMatchObject({
      kind: "run",
    });
  });

  it("recognizes a secret under any name", () => {
    const file = `
env: { COPY: "x\${{ TOKEN }}", TOKEN: replaced }
steps:
  - name: Use \${{ COPY }} and \${{ TOKEN }}
    env: { AGAIN: "\${{ env.COPY }}y" }
    run: echo \${{ AGAIN }}
`;
    const { name, masks } = running(file);
    expect(name).toBe("Use *** and ***");
    expect(masks).toEqual(expect.arrayContaining(["s3cret", "xs3cret", "replaced", "xs3crety"]));
  });

  it("does not mask values that are too short", () => {
    const context = { ...CONTEXT, env: { TOKEN: '{"n":3,"key":"abcd"}' } };
    const { masks } = running(
      "steps: [{ run: 'echo ${{ fromJSON(TOKEN).n }} ${{ fromJSON(TOKEN).key }}' }]",
      INITIAL_JOB_STATE,
      0,
      context,
    );
    expect(masks).toEqual(["abcd"]);
  });
});

describe("a mistake that only the build reveals", () => {
  it.each([
    ["steps:\n  - run: echo ${{ NOPE }}", 2, 19, "There is no variable with this name", undefined],
    ["steps:\n  - run: echo ${{ PLAIM }}", 2, 19, "There is no variable with this name", "PLAIN"],
    ["env:\n  A: x\n  B: a ${{ vars.TOKEN }}\nsteps: [{ run: x }]", 3, 17, "This is a secret", "secrets.TOKEN"],
    ["steps:\n  - run: x\n    if: secrets.PLAIN == 'x'", 3, 17, "This is not a secret", "vars.PLAIN"],
    [
      "steps:\n  - run: x\n    name: ${{ fromJSON(PLAIN) }}",
      3,
      15,
      "The text passed to fromJSON() is not JSON",
      undefined,
    ],
    [
      "steps:\n  - run: x\n    name: ${{ vars }}",
      3,
      15,
      "This is an object or array: write toJSON(...) to make it text",
      undefined,
    ],
    [
      "steps:\n  - run: |\n      echo\n       ${{ fromJSON('\"a\\u0000b\"') }}",
      4,
      12,
      "The result has a NUL character",
      undefined,
    ],
  ])("is reported at its place: %j at %i:%i: %s", (file, line, column, message, suggestion) => {
    const mistake = { line, column, message, ...(suggestion === undefined ? {} : { suggestion }) };
    expect(prepare(file)).toMatchObject({ kind: "mistake", mistake });
  });

  it("rejects a value that is too large for an environment", () => {
    const context = { ...CONTEXT, env: { BIG: "x".repeat(70_000) } };
    expect(
      prepare("steps: [{ run: 'echo ${{ format(''{0}{0}'', BIG) }}' }]", INITIAL_JOB_STATE, 0, context),
    ).toMatchObject({
      kind: "mistake",
      mistake: { message: "The result is too large for an environment variable" },
    });
  });
});

describe("the effect of earlier steps on later ones", () => {
  const FILE = `
steps:
  - id: one
    run: x
    continue-on-error: true
  - id: two
    run: echo \${{ steps.one.outcome }} \${{ steps.one.conclusion }} \${{ steps.one.exitCode }} \${{ steps.one.outputs.A || 'none' }} \${{ job.status }}
  - if: failure()
    name: Tell of \${{ steps.two.outputs.WHAT }}
    run: x
  - if: always()
    run: x
  - if: cancelled() && steps.two.outcome == 'skipped'
    run: x
`;
  const plan = planOf(FILE);
  const kinds = (state: JobState) => plan.job.steps.map((_, index) => prepareStep(plan, index, CONTEXT, state).kind);
  const values = ({ env }: { env: Record<string, string> }) =>
    Object.entries(env).flatMap(([key, value]) => (key.startsWith("MILLRACE_EXPR_") ? [value] : []));

  it("an allowed failure changes only the outcome", () => {
    const state = afterStep(INITIAL_JOB_STATE, plan.job.steps[0]!, ended({ outcome: "failure", exitCode: 3 }));
    expect(state.status).toBe("success");
    expect(values(running(FILE, state, 1))).toEqual(["failure", "success", "3", "none", "success"]);
  });

  it("after a failure, only steps with a condition for it run", () => {
    let state = afterStep(INITIAL_JOB_STATE, plan.job.steps[0]!, ended({ outputs: { A: "a" } }));
    state = afterStep(state, plan.job.steps[1]!, ended({ outcome: "failure", exitCode: 1, outputs: { WHAT: "it" } }));
    expect(state.status).toBe("failure");
    expect(kinds(state)).toEqual(["skip", "skip", "run", "run", "skip"]);
    expect(prepareStep(plan, 2, CONTEXT, state)).toMatchObject({ name: "Tell of it" });
  });

  it("a cancel outranks a failure, before and after it", () => {
    const failed = afterStep(INITIAL_JOB_STATE, STEP, ended({ outcome: "failure" }));
    expect(kinds(afterCancel(failed))).toEqual(["skip", "skip", "skip", "run", "skip"]);
    expect(afterStep(afterCancel(failed), STEP, ended({ outcome: "failure" })).status).toBe("cancelled");
    expect(afterStep(failed, STEP, ended({ outcome: "cancelled" })).status).toBe("cancelled");
    const skipped = afterStep(
      afterStep(INITIAL_JOB_STATE, STEP, ended()),
      STEP,
      ended({ outcome: "skipped", exitCode: null }),
    );
    expect(kinds(afterCancel(skipped))).toEqual(["skip", "skip", "skip", "run", "run"]);
  });

  it("after a success, steps with failure() do not run", () => {
    expect(kinds(INITIAL_JOB_STATE)).toEqual(["run", "mistake", "skip", "run", "skip"]);
    expect(kinds(afterStep(INITIAL_JOB_STATE, STEP, ended()))).toEqual(["run", "run", "skip", "run", "skip"]);
  });
});
