import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashedText, type IncludedText } from "../../../src/pipeline/parse/included-files.ts";
import { makeJob, makePlannedJob } from "../support/fake-service.ts";
import { testRepository } from "../support/repository.ts";
import { useRunningAgent } from "../support/running-agent.ts";

const agent = useRunningAgent();
let number = 1;

const STEPS = `steps:
  - include: ./ci/greet.yml
    with: { who: "\${{ build.branch }} $(touch marker)" }
  - run: ls marker 2>/dev/null || echo no marker
`;
const GREET = `inputs: { who: {} }
steps:
  - run: echo hello \${{ inputs.who }}
`;
const JOBS = `jobs:\n  test:\n    ${STEPS.trimEnd().replaceAll("\n", "\n    ")}\n`;

const hashOf = (text: string, includes: IncludedText[]): string =>
  createHash("sha256").update(hashedText(text, includes)).digest("hex");

describe("a file of steps that includes another", () => {
  const run = async (
    files: Record<string, string>,
    after?: (repository: ReturnType<typeof testRepository>) => void,
  ) => {
    const repository = testRepository(files);
    after?.(repository);
    const job = makeJob(repository.cloneUrl, number++, { needsEnvironment: true });
    return { ...(await agent.take(job)), heard: agent.heardOf(job.build.id) };
  };

  it("runs the steps of both without a call for a plan, and never runs its inputs as code", async () => {
    const { log, result, heard } = await run({ ".millrace.yml": STEPS, "ci/greet.yml": GREET });
    expect(result).toMatchObject({ status: "succeeded" });
    expect(log).toContain("hello main $(touch marker)\n");
    expect(log).toContain("no marker\n");
    expect(heard.requests.filter(({ path }) => path.endsWith("/plan"))).toEqual([]);
  });

  it.each([
    ["names a missing file", { ".millrace.yml": STEPS }, /\.millrace\.yml:2:14: Commit \w+ has no file ci\/greet\.yml/],
    [
      "includes one with a mistake",
      { ".millrace.yml": STEPS, "ci/greet.yml": GREET.replace("run:", "rum:") },
      /^ci\/greet\.yml:3:5: `rum` is not a key of a step/m,
    ],
    [
      "includes one with wrong inputs",
      { ".millrace.yml": STEPS, "ci/greet.yml": GREET.replace("who: {}", "who: { type: number }") },
      /^\.millrace\.yml:3:18: This must be a number/m,
    ],
    [
      "includes one of 10 MB",
      { ".millrace.yml": STEPS, "ci/greet.yml": `${GREET}${"#".repeat(10_000_000)}\n` },
      /^\.millrace\.yml:2:14: ci\/greet\.yml is larger than 262144 bytes/m,
    ],
  ])("fails before a step, or at the step, when it %s", async (_, files, expected) => {
    const { log, result } = await run(files);
    expect(result).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(result?.message).toMatch(expected);
    expect(log).not.toMatch(/^hello/m);
  });
});

describe("a job of a file that includes another", () => {
  const files = { ".millrace.yml": JOBS, "ci/greet.yml": GREET };
  const greet = { path: "ci/greet.yml", text: GREET };

  const run = async (planned: IncludedText[], commit: Record<string, string> = files) => {
    const repository = testRepository(commit);
    const told = { text: JOBS, hash: hashOf(JOBS, planned) };
    return agent.take(makePlannedJob(repository.cloneUrl, number++, told));
  };

  it("runs if its commit has the planned files", async () => {
    const { log, result } = await run([greet]);
    expect(result).toMatchObject({ status: "succeeded" });
    expect(log).toContain("hello main $(touch marker)\n");
  });

  it.each<[string, IncludedText[], Record<string, string>?]>([
    ["another text of the included file", [{ ...greet, text: GREET.replace("hello", "bye") }]],
    ["the file without its include", []],
    ["one more include", [greet, { path: "more.yml", text: GREET }]],
    ["another path", [{ ...greet, path: "ci/other.yml" }]],
    ["a file that the commit does not have", [greet], { ".millrace.yml": JOBS }],
    ["other inputs", [greet], { ...files, "ci/greet.yml": GREET.replace("who: {}", "who: { default: x }") }],
  ])("runs nothing when the plan came from %s", async (_, planned, commit) => {
    const { log, result } = await run(planned, commit);
    expect(result).toMatchObject({ status: "failed", reason: "plan-mismatch" });
    expect(log).not.toMatch(/^hello/m);
  });
});
