import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashedText } from "../../../src/pipeline/parse/included-files.ts";
import { FEATURES_HEADER } from "../../../src/protocol/jobs.ts";
import { call, expectProblem, newAgent, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { newBuildSetup, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { jobStatuses, sendPlan, startNextJob } from "../../support/jobs.ts";

const FILE = "jobs:\n  test:\n    steps:\n      - include: ./ci/a.yml\n        with: { v: 24 }\n";
const A = { path: "ci/a.yml", text: "inputs: { v: { type: number } }\nsteps: [{ include: ./b.yml }]\n" };
const B = { path: "b.yml", text: "steps: [{ run: make }]\n" };
const WRONG = { ...A, text: A.text.replace("{ include: ./b.yml }", "{ run: x, shell: fish }") };
const MISTAKE = "This must be one of: bash, sh, pwsh, python, node";
const hashOf = (...files: { path: string; text: string }[]) =>
  createHash("sha256").update(hashedText(FILE, files)).digest("hex");

/** Creates an agent that holds a build whose file nobody has read yet, and is about to plan it. */
const begun = async () => {
  const setup = await newBuildSetup();
  const { id } = await triggerBuild(setup.admin, setup.pipeline.id);
  const root = await startNextJob(setup.agent);
  return { ...setup, id, plan: (text: string, more: object = {}) => sendPlan(setup.agent, root, text, more) };
};

const pollAs = async ({ token, id }: { token: string; id: string }, features: string) =>
  (await call(token, "GET", `/buildagent/${id}/poll`, undefined, { [FEATURES_HEADER]: features })).body;

describe("a plan with included files", () => {
  it("is hashed with all of them, independent of their order", async () => {
    const { plan, agent } = await begun();
    const answer = await plan(FILE, { includes: [A, B] });
    expect(answer, answer.text).toMatchObject({ status: 200, body: { jobs: [{ key: "test" }] } });
    expect((await plan(FILE, { includes: [B, A] })).body).toEqual(answer.body);
    expectProblem(await plan(FILE, { includes: [A, { ...B, text: `${B.text}#` }] }), 409, "conflict");
    const { job, pipeline } = await pollAs(agent, "environment,jobs,include");
    expect(job.hash).toBe(hashOf(A, B));
    expect(pipeline.definition).toBe(FILE);
  });

  it("requires an agent that reads such files: older ones must upgrade", async () => {
    const { plan, admin, agent } = await begun();
    const { body } = await plan(FILE, { includes: [A, B] });
    const old = await newAgent(admin, { name: "old" });
    for (const one of [agent, old]) expect(await pollAs(one, "environment,jobs")).toBe("");
    const explained = (await call(admin, "GET", `/job/${body.jobs[0].id}/explain`)).body;
    expect(explained.agents.map(({ codes }: { codes: string[] }) => codes)).toEqual([["too-old"], ["too-old"]]);
    expect(await pollAs(old, "environment,jobs,include")).toMatchObject({ job: { key: "test" } });
  });

  it("with a file of 10 MB is rejected, and the next correct one plans the build", async () => {
    const { plan } = await begun();
    const huge = { ...B, text: `${B.text}${"#".repeat(10_000_000)}` };
    expectProblem(await plan(FILE, { includes: [A, huge] }), 413, "too-large");
    expect(await plan(FILE, { includes: [A, B] })).toMatchObject({ status: 200, body: { jobs: [{ key: "test" }] } });
  });

  it("without included files is hashed and handed out as before", async () => {
    const { plan, agent } = await begun();
    const text = "jobs: { test: { steps: [{ run: make }] } }\n";
    expect(await plan(text, { includes: [] })).toMatchObject({ status: 200 });
    const { job } = await pollAs(agent, "environment,jobs");
    expect(job.hash).toBe(createHash("sha256").update(text).digest("hex"));
  });

  it.each([
    [
      "a file that was not sent",
      [A],
      [{ pointer: "/includes/0/text", detail: "2:20: The agent did not send this file with the plan" }],
    ],
    ["one with a mistake", [B, WRONG], [{ pointer: "/includes/1/text", detail: `2:26: ${MISTAKE}` }]],
    [
      "files, but none was sent",
      undefined,
      [{ pointer: "/text", detail: "4:18: The agent did not send this file with the plan" }],
    ],
  ])("fails the build where it includes %s", async (_, includes, errors) => {
    const { plan, admin, id } = await begun();
    const answer = await plan(FILE, { includes });
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors).toMatchObject([errors[0]]);
    expect(await readBuild(admin, id)).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
  });

  it("shows people the mistake in its own file", async () => {
    const { plan, admin, id } = await begun();
    await plan(FILE, { includes: [WRONG] });
    expect((await readBuild(admin, id)).message).toContain(`ci/a.yml:2:26: ${MISTAKE}`);
  });

  it("is rejected, while the build continues, where a request has paths that no commit can have", async () => {
    const { plan, admin, id } = await begun();
    const many = Array.from({ length: 51 }, (_, n) => ({ path: `f${n}`, text: "" }));
    for (const [includes, status] of [
      [[A, B, { path: "unused.yml", text: "" }], 422],
      [[A, B, { ...A, text: "other" }], 422],
      [[A, { ...B, path: "../b.yml" }], 422],
      [[A, { ...B, path: "/b.yml" }], 422],
      [[A, { ...B, path: ".git/config" }], 422],
      [[A, { ...B, path: "b\u0000.yml" }], 422],
      [[A, { ...B, mode: "120000" }], 422],
      [[A, { path: "b.yml" }], 422],
      [many, 422],
      ["b.yml", 422],
      [[A, { ...B, text: `#${"x".repeat(256 * 1024)}` }], 413],
    ] as const)
      expect(await plan(FILE, { includes }), JSON.stringify(includes).slice(0, 100)).toMatchObject({ status });
    expect(await readBuild(admin, id)).toMatchObject({ status: "running" });
    expect(await plan(FILE, { includes: [A, B] })).toMatchObject({ status: 200 });
    expect(jobStatuses(await readBuild(admin, id))).toEqual({ test: "queued" });
  });

  it("for a definition in the pipeline's record accepts no files from an agent", async () => {
    const { admin } = await newOrganization();
    const repository = await newRepository(admin);
    const definition = "steps: [{ include: ./ci/a.yml }]\n";
    const refused = await call(admin, "POST", "/pipeline", { repoId: repository.id, name: "inline", definition });
    expectProblem(refused, 422, "invalid");
    expect(refused.body.errors[0]).toMatchObject({
      pointer: "/definition",
      detail: expect.stringMatching(/^1:20: Only a file/),
    });
    const { id } = await newPipeline(admin, repository.id);
    expectProblem(await call(admin, "PATCH", `/pipeline/${id}`, { definition }), 422, "invalid");
  });
});

describe("POST /pipeline/check with included files", () => {
  const check = async (token: string, body: object) => (await call(token, "POST", "/pipeline/check", body)).body;

  it("checks the files that are sent, and reports those that are not", async () => {
    const { admin } = await newOrganization();
    expect(await check(admin, { definition: FILE, includes: [A, B] })).toMatchObject({
      isValid: true,
      hints: [{ message: expect.stringContaining("No registered agent") }],
      mistakes: [],
    });
    const alone = await check(admin, { definition: FILE });
    expect(alone).toMatchObject({
      isValid: true,
      jobs: [{ key: "test" }],
      hints: [{ line: 4, column: 18 }, { line: 2 }],
    });
    const wrong = await check(admin, { definition: FILE, includes: [WRONG] });
    expect(wrong.isValid).toBe(false);
    expect(wrong.mistakes).toEqual([{ file: "ci/a.yml", line: 2, column: 26, message: MISTAKE }]);
    expectProblem(
      await call(admin, "POST", "/pipeline/check", {
        definition: FILE,
        includes: [{ ...A, text: "x".repeat(262_144) }],
      }),
      413,
      "too-large",
    );
  });

  it("rejects them for a definition in a pipeline's record", async () => {
    const { admin } = await newOrganization();
    const repository = await newRepository(admin);
    const { id } = await newPipeline(admin, repository.id, { definition: "steps: [{ run: x }]\n" });
    const checked = await check(admin, { definition: FILE, pipelineId: id, includes: [A, B] });
    expect(checked).toMatchObject({ isValid: false, mistakes: [{ line: 4, column: 18 }] });
  });
});
