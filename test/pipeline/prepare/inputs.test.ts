import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { formatMistake } from "../../../src/pipeline/mistake.ts";
import type { Plan } from "../../../src/pipeline/parse/plan.ts";
import { INITIAL_JOB_STATE, type JobContext, type JobState } from "../../../src/pipeline/prepare/job-context.ts";
import { type PreparedStep, prepareStep } from "../../../src/pipeline/prepare/prepare-step.ts";
import { BY_REQUEST } from "../../support/build-facts.ts";
import { planWith, toldWith } from "../support/included.ts";

const CONTEXT: JobContext = {
  env: { CI: "true", PLAIN: "plain", TOKEN: "s3cret" },
  secretKeys: ["TOKEN"],
  runKeys: [],
  build: { id: "b", number: 7, branch: "main", commit: "c0ffee", message: "$(reboot)", attempt: 2, ...BY_REQUEST },
  repository: { id: "r", fullName: "acme/app", cloneUrl: "https://host/app.git" },
  agent: { id: "a", name: "mac-1", platform: "macos" },
};

const prepared = (plan: Plan, state: JobState = INITIAL_JOB_STATE): PreparedStep[] =>
  plan.job.steps.map((_, index) => prepareStep(plan, index, CONTEXT, state));

/** Returns the first step of a file `a` with these inputs, included `with` these values. */
const first = (inputs: string, values: string, step: string, state?: JobState): PreparedStep =>
  prepared(
    planWith(`env: { OF_FILE: f }\nsteps:\n  - include: ./a\n    with: ${values}\n`, {
      a: `inputs: ${inputs}\nsteps:\n  - ${step}\n`,
    }),
    state,
  )[0]!;

/** Returns the value of `inputs.x`, as a step reads it. */
const valueRead = (kind: string, value: string): unknown => {
  const step = first(`{ x: ${kind} }`, value, 'run: x\n    env: { V: "${{ toJSON(inputs.x) }}" }');
  return step.kind === "run" ? JSON.parse(step.env.V ?? "") : step;
};

describe("the value of an input", () => {
  it.each([
    ["{}", "{ x: 1.10 }", "1.10"],
    ["{ default: 3.10 }", "{}", "3.10"],
    ["{ type: number }", "{ x: 1.10 }", 1.1],
    ["{ type: number, default: -2 }", "{}", -2],
    ["{ type: number }", "{ x: '${{ build.number }}' }", 7],
    ["{ type: number }", "{ x: '1${{ build.number }}' }", 17],
    ["{ type: boolean, default: true }", "{}", true],
    ["{ type: boolean }", "{ x: '${{ build.number == 7 }}' }", true],
    ["{ type: choice, options: [a, main] }", "{ x: '${{ build.branch }}' }", "main"],
    ["{ required: false }", "{}", null],
    ["{ required: true, description: d }", '{ x: "" }', ""],
    ["{}", "{ x: '${{ PLAIN }}-${{ env.OF_FILE }}' }", "plain-f"],
  ])("%s with %s", (kind, values, expected) => {
    expect(valueRead(kind, values)).toEqual(expected);
  });

  it.each([
    ["{ x: { type: text } }", "{ x: 1 }", "a:1:22: This must be one of: string, number, boolean, choice"],
    ["{ x: {} }", "{}", "p:3:5: The input `x` has no value here"],
    ["{ x: { type: number } }", "{ x: 1e999 }", "p:4:16: This must be a number"],
    ["{ x: { type: number } }", "{ x: 0x10 }", "p:4:16: This must be a number"],
    ["{ x: { type: boolean } }", "{ x: yes }", "p:4:16: This must be true or false"],
    ["{ x: { type: choice, options: [a, b] } }", "{ x: c }", "p:4:16: This must be one of: a, b"],
    [
      "{ x: { type: choice } }",
      "{ x: c }",
      "a:1:11: An input of type choice needs `options`, and no other type has them",
    ],
    [
      "{ x: { options: [a] } }",
      "{ x: a }",
      "a:1:11: An input of type choice needs `options`, and no other type has them",
    ],
    ["{ x: { type: choice, options: [a], default: b } }", "{}", "a:1:53: This must be one of: a"],
    ["{ x: { required: true, default: b } }", "{}", "a:1:11: An input with a default is never required"],
    ["{ x: { default: '${{ build.id }}' } }", "{}", "a:1:25: A default is plain text"],
    ["{ x: { default: a } }", "{ y: b }", "p:4:13: The included file has no such input"],
    ["{ 1x: { default: a } }", "{}", "a:1:11: An input's name must be letters, digits, _ and -"],
    ["{ __proto__: { default: a } }", "{}", "a:1:11: An input's name must be letters, digits, _ and -"],
    ["{ x: a }", "{}", "a:1:14: An input is a mapping"],
    ["{ x: {} }", "{ x: '${{ inputs.x }}' }", "p:4:21: There is no context `inputs`"],
    ["{ x: {} }", "{ x: '${{ steps.two.exitCode }}' }", "p:4:27: There is no earlier step with this id"],
    ["{ x: {} }", "{ x: [a] }", "p:4:16: This must be text"],
    [
      `{ ${Array.from({ length: 101 }, (_, n) => `i${n}: { default: a }`).join(", ")} }`,
      "{}",
      "a:1:9: A file has at most 100",
    ],
  ])("has a mistake with %s and %s", (inputs, values, expected) => {
    const file = `steps:\n  - run: x\n  - include: ./a\n    with: ${values}\n`;
    const told = toldWith(file, { a: `inputs: ${inputs}\nsteps: [{ run: x }, { id: two, run: y }]\n` });
    expect(told.join("\n")).toContain(expected);
    expect(told.length).toBeLessThan(3);
  });

  it("that turns out wrong in the build fails the steps that read it, at its place in the file", () => {
    const inputs = "{ n: { type: number }, o: {} }";
    const values = "{ n: '${{ build.branch }}', o: \"${{ fromJSON('[1]') }}\" }";
    const mistakeOf = (step: string) => {
      const made = first(inputs, values, step);
      return made.kind === "mistake" ? formatMistake("p", made.mistake) : made.kind;
    };
    expect(mistakeOf("run: echo ${{ inputs.n }}")).toBe("p:4:16: This must be a number");
    expect(mistakeOf("run: echo ${{ inputs.o }}")).toBe(
      "p:4:47: This is an object or array: write toJSON(...) to make it text",
    );
    expect(mistakeOf("run: echo ${{ toJSON(inputs) }}")).toBe("p:4:16: This must be a number");
    expect(mistakeOf("run: x")).toBe("run");
  });

  it("is not code in a script, and a secret in it stays secret", () => {
    const step = first("{ x: {} }", "{ x: '${{ build.message }} ${{ secrets.TOKEN }}' }", "run: echo ${{ inputs.x }}");
    expect(step).toMatchObject({ kind: "run", script: 'echo "${MILLRACE_EXPR_1}"' });
    expect(step).toMatchObject({ env: { MILLRACE_EXPR_1: "$(reboot) s3cret" } });
    expect(step.kind === "run" && step.masks.sort()).toEqual(["$(reboot) s3cret", "s3cret"]);
    expect(first("{ x: {} }", "{ x: '${{ secrets.TOKEN }}' }", "run: x\n    name: of ${{ inputs.x }}").name).toBe(
      "of ***",
    );
    expect(
      toldWith("steps: [{ include: ./a, with: { x: x } }]", {
        a: "inputs: { x: {} }\nsteps:\n  - run: eval ${{ inputs.x }}\n",
      })[0],
    ).toMatch(/^a:3:/);
  });

  it("is computed with the variables around the include, not with those of the step that reads it", () => {
    const step = first(
      "{ x: {} }",
      "{ x: '${{ env.PLAIN }}' }",
      'run: echo "${{ inputs.x }} ${{ env.PLAIN }}"\n    env: { PLAIN: own }',
    );
    expect(step).toMatchObject({ env: { MILLRACE_EXPR_1: "plain", MILLRACE_EXPR_2: "own" } });
  });

  it("is unknown in further files that an included file includes", () => {
    const files = { a: "inputs: { x: {} }\nsteps: [{ include: ./b }]", b: "steps:\n  - run: echo ${{ inputs.x }}\n" };
    expect(toldWith("steps: [{ include: ./a, with: { x: x } }]", files)).toEqual([
      "b:2:26: This file has no such input",
    ]);
  });
});

/** A value in `with`, and the same as an expression. */
const VALUES = fc.constantFrom(
  { written: "plain text", inPlace: "'plain text'" },
  { written: "it's", inPlace: "'it''s'" },
  { written: "", inPlace: "''" },
  { written: "${{ build.branch }}", inPlace: "build.branch" },
  { written: "${{ secrets.TOKEN }}", inPlace: "secrets.TOKEN" },
  { written: "pre ${{ build.number }}", inPlace: "format('pre {0}', build.number)" },
  { written: "${{ inputs.x }}", inPlace: null },
  { written: "<${{ inputs.x }}>", inPlace: null },
);
type Node = { run: string; if: string | null } | { value: { written: string; inPlace: string | null }; nodes: Node[] };

const RUNS = fc.constantFrom(
  ...["make", 'echo "${{ inputs.x }}"', "echo ${{ inputs.x }} ${{ env.PLAIN }}", "${{ inputs.x || 'none' }}"],
);
const NODES = fc.letrec<{ list: Node[]; node: Node; leaf: Node; include: Node }>((tie) => ({
  leaf: fc.record({ run: RUNS, if: fc.constantFrom(null, "inputs.x == 'main'", "inputs.x != ''", "always()") }),
  include: fc.record({ value: VALUES, nodes: tie("list") }),
  node: fc.oneof({ depthSize: "small", maxDepth: 3, withCrossShrink: true }, tie("leaf"), tie("include")),
  list: fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
}));

const depthOf = (nodes: Node[]): number =>
  Math.max(0, ...nodes.map((node) => ("run" in node ? 0 : 1 + depthOf(node.nodes))));

/**
 * Returns the steps as files, with a separate file for each include. At the top `x` is a variable of no file: its text
 * is `top`.
 */
const asFiles = (nodes: Node[], files: Record<string, string>): unknown[] =>
  nodes.map((node) => {
    if ("run" in node) return node.if === null ? { run: node.run } : { run: node.run, if: node.if };
    const steps = asFiles(node.nodes, files);
    const path = `f${Object.keys(files).length}`;
    files[path] = stringify({ inputs: { x: {} }, steps });
    return { include: `./${path}`, with: { x: node.value.written } };
  });

/** Returns the same steps, written in place. */
const inPlace = (nodes: Node[], x: string): unknown[] =>
  nodes.flatMap((node) => {
    const put = (text: string) => text.replaceAll("inputs.x", `(${x})`);
    if ("run" in node) return [{ run: put(node.run), ...(node.if === null ? {} : { if: put(node.if) }) }];
    const { written, inPlace: own } = node.value;
    const value = own ?? (written.startsWith("<") ? `format('<{0}>', ${x})` : x);
    return inPlace(node.nodes, value);
  });

/** Returns everything that runs. A step without a name has its script as written for a name, which differs. */
const whatRuns = (steps: PreparedStep[]) => steps.map(({ name: _, ...step }) => ({ ...step, masks: [] }));
/** Secrets are masked from the step that receives them, whether it reads them or not. */
const masksOf = (steps: PreparedStep[]) => new Set(steps.flatMap((step) => (step.kind === "run" ? step.masks : [])));

describe("steps that a file includes", () => {
  const run = (wrong?: (steps: unknown[]) => unknown[]) =>
    fc.check(
      fc.property(VALUES, NODES.list, (value, nodes) => {
        fc.pre(value.inPlace !== null && depthOf(nodes) <= 2);
        const files: Record<string, string> = {};
        const root: Node[] = [{ value, nodes }];
        const included = planWith(stringify({ steps: asFiles(root, files) }), files);
        const steps = inPlace(root, "''");
        const written = planWith(stringify({ steps: wrong ? wrong(steps) : steps }), {});
        const [one, other] = [prepared(included), prepared(written)];
        expect(whatRuns(one)).toEqual(whatRuns(other));
        expect([...masksOf(other).difference(masksOf(one))]).toEqual([]);
      }),
      { numRuns: 300 },
    );

  it("do the same as steps written in place", () => {
    const { failed, counterexample } = run();
    expect({ failed, counterexample }).toEqual({ failed: false, counterexample: null });
  });

  it("fail the test if they do something else", () => {
    expect(run((steps) => [...steps].reverse()).failed).toBe(true);
    expect(run((steps) => JSON.parse(JSON.stringify(steps).replaceAll("build.branch", "build.id"))).failed).toBe(true);
  });
});
