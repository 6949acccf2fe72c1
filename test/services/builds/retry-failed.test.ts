import { describe, expect, it } from "vitest";
import { call, expectProblem } from "../../support/api.ts";
import { completeJob, newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { finishNextJob, jobStatuses, planNextBuild, pollForJobs } from "../../support/jobs.ts";

const FILE = `jobs:
  make: { outputs: { v: "1" }, steps: [{ run: make }] }
  test: { needs: [make], steps: [{ run: make test }] }
  deploy: { needs: [test], steps: [{ run: make deploy }] }
  docs: { steps: [{ run: make docs }] }
`;

const retryFailed = (token: string, id: string) => call(token, "POST", `/build/${id}/retry`, { only: "failed" });

/** Creates a build with one failed job. */
const failed = async () => {
  const setup = await newBuildSetup();
  const { admin, agent, pipeline } = setup;
  await triggerBuild(admin, pipeline.id);
  const planned = await planNextBuild(agent, FILE);
  for (let n = 0; n < 3; n++) {
    const { body } = await pollForJobs(agent);
    const log = new TextEncoder().encode(`log of ${body.job?.key}\n`);
    await call(agent.token, "PUT", `/job/${body.job?.id}/log?offset=0&final=true`, log, {
      "X-Lease": String(body.lease),
    });
    const outputs = { v: "1" };
    await finishNextJob(
      agent,
      body.job?.key === "test" ? { status: "failed", exitCode: 1 } : { status: "succeeded", outputs },
    );
  }
  return { ...setup, ...planned };
};

describe("retrying a build's failed jobs", () => {
  it("creates a build that adopts the successful jobs, and runs the others from the same file", async () => {
    const { admin, agent, buildId } = await failed();
    const before = await readBuild(admin, buildId);
    expect(jobStatuses(before)).toEqual({ make: "succeeded", test: "failed", deploy: "dropped", docs: "succeeded" });
    const { body: again, text, status } = await retryFailed(admin, buildId);
    expect(status, text).toBe(201);
    expect(again).toMatchObject({ retryOf: buildId, trigger: "retry", commitSha: before.commitSha });
    expect(jobStatuses(again)).toEqual({ make: "succeeded", test: "queued", deploy: "waiting", docs: "succeeded" });
    expect(again.jobs[0]).toMatchObject({ key: "make", adoptedFrom: buildId });
    expect(await call(admin, "GET", `/job/${again.jobs[0].id}/log`)).toMatchObject({ text: "log of make\n" });
    const job = await finishNextJob(agent);
    expect(job.job).toMatchObject({ key: "test", needs: { make: { result: "success", outputs: { v: "1" } } } });
    await finishNextJob(agent);
    expect(await readBuild(admin, again.id)).toMatchObject({ status: "succeeded" });
    expect(await readBuild(admin, buildId)).toEqual(before);
    expectProblem(await retryFailed(admin, again.id), 409, "conflict");
    expect((await call(admin, "POST", `/build/${again.id}/retry`)).body.jobs).toBe(null);
  });

  it("is a conflict for a build that has not ended, and for a build with one job", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    expectProblem(await retryFailed(admin, id), 409, "conflict");
    await completeJob(agent, (await pollOnce(agent)).body);
    expectProblem(await retryFailed(admin, id), 409, "conflict");
    expectProblem(await call(admin, "POST", `/build/${id}/retry`, { only: "all" }), 422, "invalid");
    expect((await call(admin, "POST", `/build/${id}/retry`)).status).toBe(201);
    expect((await call(admin, "POST", `/build/${id}/retry`, {})).status).toBe(201);
  });

  it("ends after fifty in a row", async () => {
    const { admin, agent, buildId } = await failed();
    let id = buildId;
    for (let n = 0; n < 50; n++) {
      const { body, text, status } = await retryFailed(admin, id);
      expect(status, text).toBe(201);
      await finishNextJob(agent, { status: "failed", exitCode: 1 });
      id = body.id;
    }
    const answer = await retryFailed(admin, id);
    expectProblem(answer, 409, "conflict");
    expect(answer.body.detail).toContain("50 times");
  });
});
