import { describe, expect, it } from "vitest";
import { mergeRequires, unmetRequirements } from "../../src/domain/requires.ts";
import { expand } from "../../src/pipeline/graph/expand.ts";
import { LocatedMistake } from "../../src/pipeline/mistake.ts";
import { parsePlan } from "../../src/pipeline/parse/parse.ts";
import { planOfJob } from "../../src/pipeline/parse/plan-contents.ts";
import type { JobContext } from "../../src/pipeline/prepare/job-context.ts";
import { prepareTools } from "../../src/pipeline/prepare/prepare-tools.ts";

const STEPS = "steps: [{ run: x }]";
const mistakes = (text: string): string[] =>
  (parsePlan(text).mistakes ?? []).map(
    ({ line, column, message, suggestion }) => `${line}:${column} ${message}${suggestion ? ` -> ${suggestion}` : ""}`,
  );

const planOf = (text: string) => {
  const { plan, mistakes: wrong } = parsePlan(text);
  if (!plan) throw new Error(JSON.stringify(wrong));
  return plan;
};

const context = (matrix: JobContext["matrix"], env: Record<string, string> = {}): JobContext => ({
  ...{ env, secretKeys: [], runKeys: [], matrix, needs: {} },
  build: {
    ...{ id: "b", number: 7, branch: "main", commit: null, message: null, attempt: 1, trigger: "api", event: "api" },
    ...{ ref: "refs/heads/main", tag: null, pull: null, base: null, schedule: null, trusted: true },
  },
  repository: { id: "r", fullName: "acme/mill", cloneUrl: "" },
  agent: { id: "a", name: "wheel", platform: "linux" },
});

const toolsOf = (text: string, job?: string, matrix: JobContext["matrix"] = null, env = {}) => {
  const plan = planOf(text);
  const definition = plan.jobs?.find(({ key }) => key === job);
  const tools = prepareTools(definition ? planOfJob(plan, definition) : plan, context(matrix, env));
  return tools.map(({ name, version }) => `${name} ${version}`);
};

describe("tools of a file", () => {
  it.each([
    ["tools: { nod: 24 }", ["1:10 There is no tool with this name -> node"]],
    ["tools: { nodejs: 24 }", ["1:10 There is no tool with this name -> node"]],
    ["tools: auto-detect", ["1:8 This must be one of: auto"]],
    ["tools: {}", ["1:8 This must not be empty"]],
    ["tools: [node]", ["1:8 This must be a mapping, with `key: value` on each line"]],
    ["tools: { __proto__: 1 }", ["1:10 There is no tool with this name -> protobuf"]],
    ["tools: { xcode: beta }", ["1:17 A version of Xcode is, for example, 26.1"]],
    ["tools: { node: { version: 24 } }", ['1:16 This must be the version, for example "24"']],
  ])("have a mistake: %s", (text, expected) => {
    expect(mistakes(`${text}\n${STEPS}\n`)).toEqual(expected);
  });

  it.each(["path:/etc", "ref:main", "24 25", "../x", "-24", "{{x}}", "a..b", "2\u00e9"])(
    "reject the version %j",
    (version) => {
      expect(mistakes(`tools: { node: ${JSON.stringify(version)} }\n${STEPS}\n`)).toEqual([
        expect.stringContaining("A version is letters"),
      ]);
    },
  );

  it.each(["asdf:x/y", "vfox:x/y", "http:x", "npm:", "npm:../x", "npm:a b", "path:/x"])(
    "reject the tool %s",
    (name) => {
      expect(mistakes(`tools: { ${JSON.stringify(name)}: 1 }\n${STEPS}\n`)).toEqual([expect.stringContaining("colon")]);
    },
  );

  it("are at most 50", () => {
    const many = Array.from({ length: 51 }, (_, at) => `"npm:p${at}": 1`).join(", ");
    expect(mistakes(`tools: { ${many} }\n${STEPS}\n`)).toEqual(["1:8 A job has at most 50 tools"]);
  });

  it("may use values that are known when a build is planned, but no secrets", () => {
    expect(
      toolsOf(
        `tools: { node: "\${{ vars.NODE }}", golang2: 1 }\n${STEPS}`.replace(", golang2: 1", ""),
        undefined,
        undefined,
        { NODE: "22" },
      ),
    ).toEqual(["node 22"]);
    for (const name of ["secrets.X", "env.X", "steps.a.outputs.x", "needs.a.result"])
      expect(mistakes(`tools: { node: "\${{ ${name} }}" }\n${STEPS}`)).not.toEqual([]);
    expect(() =>
      toolsOf(`tools: { node: "\${{ vars.NODE }}" }\n${STEPS}`, undefined, null, { NODE: '1"\n[hooks]' }),
    ).toThrow(LocatedMistake);
  });

  it("yield to a job's tools, name by name, unless one of the two is auto", () => {
    const text = `tools: { node: 24, java: 21 }
jobs:
  a: { tools: { node: "\${{ matrix.node }}" }, matrix: { node: [20, 3.10] }, ${STEPS} }
  b: { tools: auto, ${STEPS} }
  c: { ${STEPS} }`;
    expect(toolsOf(text, "a", { node: "3.10" })).toEqual(["java 21", "node 3.10"]);
    expect(toolsOf(text, "b")).toEqual([]);
    expect(toolsOf(text, "c")).toEqual(["node 24", "java 21"]);
  });

  it("are rejected for a gate without steps", () => {
    expect(mistakes("jobs: { a: { gate: { message: x }, tools: { node: 24 } } }")).toEqual([
      expect.stringContaining("it cannot have `tools`"),
    ]);
  });
});

const requiresIn = (text: string, vars: Record<string, string> = {}) => {
  const { graph, mistakes: wrong } = expand(planOf(text), {
    facts: { build: {}, repository: {}, vars, changed: {} },
    ...{ hash: "", path: null, commitSha: null, requires: {}, timeoutSeconds: 60, newId: () => crypto.randomUUID() },
  });
  return graph ? graph.jobs.map(({ requires }) => requires.xcode) : wrong;
};

describe("xcode among the tools", () => {
  it("is a requirement of the job, for each combination", () => {
    expect(
      requiresIn(`jobs: { a: { tools: { xcode: "\${{ matrix.x }}" }, matrix: { x: [26.1, 16.4] }, ${STEPS} } }`),
    ).toEqual(["26.1", "16.4"]);
    expect(requiresIn(`tools: { xcode: 26 }\njobs: { a: { ${STEPS} } }`)).toEqual(["26"]);
    expect(requiresIn(`jobs: { a: { tools: { node: 24 }, ${STEPS} } }`)).toEqual([undefined]);
    expect(requiresIn(`jobs: { a: { tools: { xcode: "\${{ vars.X }}" }, ${STEPS} } }`, { X: "new" })).toMatchObject([
      { message: "A version of Xcode is, for example, 26.1" },
    ]);
  });

  it("is plain text in a file of steps, and required there", () => {
    expect(planOf(`tools: { xcode: 26.1 }\n${STEPS}`).job.requires).toMatchObject({ xcode: "26.1" });
    expect(mistakes(`tools: { xcode: "\${{ vars.X }}" }\n${STEPS}`)).toEqual([
      expect.stringContaining("A file of steps names its Xcode in plain text"),
    ]);
  });

  const agent = { platform: 1, canBuildIOS: true, canBuildAndroid: false, canBuildWeb: true, labels: ["26.1"] };

  it.each([
    ["26.1", ["26.1"], true],
    ["26.1", ["26.1.1", "16.4"], true],
    ["26", ["26.10"], true],
    ["26.1", ["26.10", "2.26.1"], false],
    ["26.1", [], false],
    ["26.1", undefined, false],
  ])("%s is met by %j: %s", (xcode, xcodes, expected) => {
    const told = xcodes === undefined ? agent : { ...agent, xcodes };
    expect(unmetRequirements(told, { xcode }).map(({ phrase }) => phrase)).toEqual(
      expected ? [] : [`lacks Xcode ${xcode}`],
    );
  });

  it("of pipeline and file must agree", () => {
    expect(mergeRequires({ xcode: "26" }, { xcode: "26.1" })).toMatchObject({ xcode: "26.1" });
    expect(mergeRequires({ xcode: "26.1" }, {})).toMatchObject({ xcode: "26.1" });
    expect(mergeRequires({ xcode: "26.1" }, { xcode: "16" })).toBeUndefined();
    expect(mergeRequires({}, {})).not.toHaveProperty("xcode");
  });
});
