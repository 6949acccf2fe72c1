import { describe, expect, it } from "vitest";
import { call, create, newPipeline } from "../../support/api.ts";
import { newBuildSetup, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { COMMIT, finishNextJob, jobStatuses, pollForJobs, sendPlan, startNextJob } from "../../support/jobs.ts";

const DEFINITION = `jobs:
  test: { name: "Test \${{ build.branch }} \${{ vars.WHERE }}", steps: [{ run: make }] }
  deploy: { needs: [test], if: "vars.WHERE == 'here'", steps: [{ run: make deploy }] }
`;

const withDefinition = async (definition: string) => {
  const setup = await newBuildSetup();
  const { admin, orgId, repository } = setup;
  const plain = { key: "WHERE", value: "here", isSecret: false, scope: "organization", orgId };
  await create(admin, "/secrets/variables", plain);
  return { ...setup, pipeline: await newPipeline(admin, repository.id, { name: "jobs", definition }) };
};

describe("a definition with several jobs in the pipeline's record", () => {
  it("is planned at the trigger where a commit is named: no agent has to read it", async () => {
    const { admin, agent, pipeline } = await withDefinition(DEFINITION);
    const build = await triggerBuild(admin, pipeline.id, { commitSha: COMMIT });
    expect(jobStatuses(build)).toEqual({ test: "queued", deploy: "waiting" });
    expect(build.jobs?.[0]?.name).toBe("Test main here");
    const { job, env, pipeline: of } = await finishNextJob(agent);
    expect(job).toMatchObject({ key: "test", path: null });
    expect([env, of.definition]).toEqual([{ WHERE: "here" }, DEFINITION]);
    await finishNextJob(agent);
    expect(await readBuild(admin, build.id)).toMatchObject({ status: "succeeded" });
  });

  it("reads the run's own values", async () => {
    const { admin, pipeline, agent } = await withDefinition(DEFINITION);
    const { id, jobs } = await triggerBuild(admin, pipeline.id, {
      commitSha: COMMIT,
      envVariables: { WHERE: "there" },
    });
    expect(jobs?.[0]?.name).toBe("Test main there");
    await finishNextJob(agent);
    expect(jobStatuses(await readBuild(admin, id))).toEqual({ test: "succeeded", deploy: "skipped" });
  });

  it("is planned by an agent where no commit is named, from the record whatever the agent sends", async () => {
    const { admin, agent, pipeline } = await withDefinition(DEFINITION);
    const build = await triggerBuild(admin, pipeline.id);
    expect(build.jobs).toBe(null);
    const root = await startNextJob(agent);
    expect(root.pipeline.definition).toBe(DEFINITION);
    const answer = await sendPlan(agent, root, "jobs: { evil: { steps: [{ run: x }] } }");
    expect(answer.body.jobs.map(({ key }: { key: string }) => key)).toEqual(["test", "deploy"]);
    const { job } = await startNextJob(agent);
    expect(job).toMatchObject({ key: "test", path: null });
  });

  it("is planned at the trigger even if a job is named build and a script contains number", async () => {
    const { admin, pipeline } = await withDefinition(
      `jobs:
  build: { name: "\${{ build['branch'] }} \${{ 'build.number' }}", steps: [{ run: echo number of this build }] }
  test: { needs: [build], if: needs.build.result == 'success', steps: [{ run: "echo \${{ build.number }}" }] }
`,
    );
    const build = await triggerBuild(admin, pipeline.id, { commitSha: COMMIT });
    expect(jobStatuses(build)).toEqual({ build: "queued", test: "waiting" });
  });

  it.each([
    "name: '${{ build[vars.WHERE] }}'",
    "name: '${{ join(build.*) }}'",
    `if: "contains(toJSON(build), '7')"`,
    "gate: { message: 'Release ${{ build.number }}?' }",
  ])("is left to an agent with %s", async (key) => {
    const { admin, pipeline } = await withDefinition(`jobs: { a: { steps: [{ run: x }], ${key} } }`);
    const build = await triggerBuild(admin, pipeline.id, { commitSha: COMMIT });
    expect(build.jobs).toBe(null);
  });

  it("is left to an agent if it reads the build's number, or has mistakes", async () => {
    const { admin, agent, pipeline } = await withDefinition(
      'jobs: { a: { name: "${{ build.number }}", steps: [{ run: x }] } }',
    );
    const first = await triggerBuild(admin, pipeline.id, { commitSha: COMMIT });
    expect(first.jobs).toBe(null);
    const root = await startNextJob(agent);
    expect((await sendPlan(agent, root, "")).status).toBe(200);
    expect((await readBuild(admin, first.id)).jobs?.[0]?.name).toBe(String(first.number));
    await finishNextJob(agent);

    const asking = await withDefinition("jobs: { a: { groups: [none], steps: [{ run: x }] } }");
    const second = await triggerBuild(asking.admin, asking.pipeline.id, { commitSha: COMMIT });
    expect(second.jobs).toBe(null);
    const job = await startNextJob(asking.agent);
    expect((await sendPlan(asking.agent, job, "")).status).toBe(422);
    expect(await readBuild(asking.admin, second.id)).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
  });

  it("is handed out only to agents that can run jobs", async () => {
    const { admin, agent, pipeline } = await withDefinition(DEFINITION);
    const build = await triggerBuild(admin, pipeline.id, { commitSha: COMMIT });
    expect((await pollForJobs(agent, "environment")).status).toBe(204);
    const explained = await call(admin, "GET", `/job/${build.jobs?.[0]?.id}/explain`);
    expect(explained, explained.text).toMatchObject({ status: 200 });
    expect((await pollForJobs(agent)).status).toBe(200);
  });
});

describe("a pipeline that requires Windows", () => {
  it("creates no build that would wait forever, and a definition cannot require Windows", async () => {
    const { admin, pipeline } = await newBuildSetup();
    const path = `/pipeline/${pipeline.id}`;
    const definition = "requires: { platform: windows }\nsteps: [{ run: make }]";
    const refused = await call(admin, "PUT", path, { definition });
    expect(refused).toMatchObject({
      status: 422,
      body: { errors: [{ detail: "1:23: There is no agent for Windows: write macos or linux" }] },
    });
    expect((await call(admin, "PUT", path, { requires: { platform: "windows" } })).status).toBe(200);
    const answer = await call(admin, "POST", "/build", { pipelineId: pipeline.id });
    expect(answer).toMatchObject({
      status: 409,
      body: { detail: "There is no agent for Windows: write macos or linux" },
    });
    expect((await call(admin, "GET", "/build")).body).toEqual([]);
  });
});
