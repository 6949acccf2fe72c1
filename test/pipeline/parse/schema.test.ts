import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { PIPELINE_SCHEMA } from "../../../src/pipeline/parse/pipeline-file.ts";
import { Label } from "../../../src/protocol/common.ts";
import { Key } from "../../../src/protocol/variable.ts";

type Schema = Record<string, unknown> & {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  additionalProperties?: Schema | boolean;
};
const [schema, several] = PIPELINE_SCHEMA.anyOf as unknown as [Schema, Schema];
const [step, include] = schema.properties?.steps?.items?.anyOf ?? [];
const job = several.properties?.jobs?.additionalProperties as Schema;
const pattern = (of: unknown) => new RegExp(String(of));

describe("the schema of pipeline files", () => {
  it("names every key of the language", () => {
    expect(Object.keys(schema.properties ?? {})).toEqual([
      ...[
        "name",
        "env",
        "defaults",
        "requires",
        "timeout-minutes",
        "checkout",
        "tools",
        "groups",
        "artifacts",
        "cache",
        "reports",
        "retry",
        "steps",
      ],
      ...["on", "supersede", "schedule"],
    ]);
    expect(Object.keys(several.properties ?? {})).toEqual([
      ...["name", "env", "defaults", "requires", "timeout-minutes", "checkout", "tools", "fail-fast", "jobs"],
      ...["on", "supersede", "schedule"],
    ]);
    expect(Object.keys(job.properties ?? {})).toEqual([
      ...["name", "needs", "if", "matrix", "max-parallel", "fail-fast", "continue-on-error", "retry", "gate"],
      ...[
        "concurrency",
        "groups",
        "outputs",
        "env",
        "defaults",
        "requires",
        "timeout-minutes",
        "checkout",
        "tools",
        "steps",
        "artifacts",
        "downloads",
        "reports",
        "cache",
      ],
    ]);
    expect(several).toMatchObject({ required: ["jobs"], additionalProperties: false });
    expect(Object.keys(step?.properties ?? {})).toEqual([
      ...["id", "name", "run", "shell", "env", "if", "working-directory", "timeout-minutes", "retry"],
      "continue-on-error",
    ]);
    expect(schema).toMatchObject({ required: ["steps"], additionalProperties: false });
    expect(step).toMatchObject({ required: ["run"], additionalProperties: false });
    expect(Object.keys(include?.properties ?? {})).toEqual(["include", "with"]);
    expect(include).toMatchObject({ required: ["include"], additionalProperties: false });
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  it("describes every key", () => {
    const undescribed = (node: Schema, path: string): string[] =>
      Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
        ...(typeof child.description === "string" && child.description !== "" ? [] : [`${path}.${key}`]),
        ...undescribed(child, `${path}.${key}`),
        ...[child.items ?? {}, ...(child.items?.anyOf ?? [])].flatMap((one) => undescribed(one, `${path}.${key}[]`)),
      ]);
    expect([schema, several, job].flatMap((one) => undescribed(one, ""))).toEqual([]);
  });

  it("accepts the names of variables that the API accepts", () => {
    const names = schema.properties?.env?.propertyNames as { pattern: string };
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(/^(MILLRACE_)?[A-Za-z_0-9-]{1,8}$/),
      fc.constant("A".repeat(256)),
    );
    fc.assert(fc.property(text, (name) => pattern(names.pattern).test(name) === Key.safeParse(name).success));
    const label = schema.properties?.requires?.properties?.labels?.items;
    fc.assert(fc.property(text, (name) => pattern(label?.pattern).test(name) === Label.safeParse(name).success));
  });
});

describe("an editor with the schema", () => {
  const isValid = new Ajv2020({ strict: false }).compile(PIPELINE_SCHEMA);
  it.each([
    ["steps: [{ run: x }]", true],
    ["steps: [{ run: x, if: true, shell: sh, env: { A: 1, B: '' } }, { run: y, if: always() }]", true],
    ["checkout: { depth: 0, submodules: recursive }\nsteps: [{ run: x, continue-on-error: true }]", true],
    ["steps: []", false],
    ["steps: [{ name: x }]", false],
    ["steps: [{ run: '' }]", false],
    ["steps: [{ run: x, shell: zsh }]", false],
    ["steps: [{ run: x, uses: y }]", false],
    ["env: { 1A: x }\nsteps: [{ run: x }]", false],
    ["env: { MILLRACE_A: x }\nsteps: [{ run: x }]", false],
    ["timeout-minutes: 0\nsteps: [{ run: x }]", false],
    ["requires: { labels: ['a b'] }\nsteps: [{ run: x }]", false],
    ["checkout: { submodules: all }\nsteps: [{ run: x }]", false],
    ["jobs: {}\nsteps: [{ run: x }]", false],
    ["groups: [release]\nsteps: [{ run: x }]", true],
    ["checkout: false\nsteps: [{ run: x }]", true],
    ["jobs: { a: { steps: [{ run: x }] } }", true],
    ["jobs: { a: { gate: { by: admin } }, b: { needs: [{ job: a, optional: true }], gate: {} } }", true],
    ["jobs: { a: { steps: [{ run: x }], matrix: { os: [1, 'b', true], include: [{ os: 2, c: false }] } } }", true],
    ["jobs: { a: { steps: [{ run: x }], matrix: { os: [[1]] } } }", false],
    ["jobs: { a: { steps: [{ run: x }], matrix: { os: [] } } }", false],
    [
      "jobs: { a: { steps: [{ run: x }], requires: { platform: '${{ vars.P }}', labels: ['x-${{ vars.L }}'] } } }",
      true,
    ],
    ["jobs: { a: { steps: [{ run: x }], concurrency: { group: x, when-busy: cancel-running } } }", true],
    ["jobs: { a: { steps: [{ run: x }], concurrency: { when-busy: cancel-running } } }", false],
    ["jobs: { a: { steps: [{ run: x }], needs: a } }", false],
    ["jobs: { a: { name: x } }", false],
    ["jobs: { 1a: { steps: [{ run: x }] } }", false],
    ["jobs: {}", false],
    ["jobs: []", false],
    ["jobs: { a: { steps: [{ run: x }] } }\nsteps: [{ run: x }]", false],
  ])("and the checker agree on %j: %s", (file, isGood) => {
    expect(isValid(parse(file))).toBe(isGood);
    expect(parsePlan(file).plan !== undefined).toBe(isGood);
  });
});

describe("a whole pipeline file", () => {
  it("is read with all its keys", () => {
    const { plan, mistakes } = parsePlan(`
name: All
env: &env { A: 1.10 }
defaults: { run: { shell: sh, working-directory: app } }
requires: { platform: macos, ios: true, android: false, web: true, labels: [gpu, "xcode:26"] }
timeout-minutes: 30
checkout: { depth: 0, submodules: true, lfs: true, fetch-tags: true }
steps:
  - { id: a, name: A, run: x, shell: pwsh, env: *env, if: false, timeout-minutes: 1, continue-on-error: true }
  - run: y
    working-directory: other
`);
    expect(mistakes).toBeUndefined();
    expect(plan).toMatchObject({
      name: ["All"],
      env: [{ key: "A", value: ["1.10"], position: { line: 3, column: 13 } }],
      job: {
        requires: { platform: "macos", ios: true, android: false, web: true, labels: ["gpu", "xcode:26"] },
        timeoutMinutes: 30,
        checkout: { depth: 0, submodules: "direct", lfs: true, fetchTags: true },
        steps: [
          {
            id: "a",
            shell: "pwsh",
            env: [{ key: "A" }],
            timeoutMinutes: 1,
            continueOnError: true,
            workingDirectory: ["app"],
          },
          {
            id: null,
            name: null,
            shell: "sh",
            if: null,
            timeoutMinutes: null,
            workingDirectory: ["other"],
            firstLine: "y",
          },
        ],
      },
    });
  });

  it("has defaults for omitted keys", () => {
    expect(parsePlan("steps: [{ run: x }]").plan).toMatchObject({
      name: null,
      job: {
        requires: {},
        timeoutMinutes: null,
        checkout: { depth: 1, submodules: "none", lfs: false, fetchTags: false },
        steps: [{ shell: "bash", continueOnError: false, workingDirectory: null }],
      },
    });
  });
});
