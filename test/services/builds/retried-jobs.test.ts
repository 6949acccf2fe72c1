import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { BuildJob } from "../../../src/protocol/job-record.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { personWith } from "../../dashboard/shell/page-requests.ts";
import { call, create, expectProblem } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, readBuild, triggerBuild } from "../../support/build-setup.ts";
import {
  callWithLease,
  finishNextJob,
  jobStatuses,
  planNextBuild,
  pollForJobs,
  startNextJob,
} from "../../support/jobs.ts";

const FILE = `jobs:
  make: { retry: 1, outputs: { a: "x" }, steps: [{ run: make }] }
  use: { needs: [make], steps: [{ run: make }] }
`;
const FAILED = { status: "failed", exitCode: 3, message: "Step make ended with exit code 3" };

const planned = async (file = FILE) => {
  const setup = await newBuildSetup();
  await triggerBuild(setup.admin, setup.pipeline.id);
  return { ...setup, ...(await planNextBuild(setup.agent, file)) };
};

const writeLog = async ({ agent }: BuildSetup, { job, lease }: Job, line: string): Promise<number> => {
  const headers = { Authorization: `Bearer ${agent.token}`, "X-Lease": String(lease) };
  const request = new Request(`https://millrace.test/job/${job?.id}/log?offset=0`, {
    method: "PUT",
    headers: { ...headers, "Content-Type": "application/octet-stream" },
    body: line,
  });
  return (await exports.default.fetch(request)).status;
};

describe("a job with `retry` whose steps failed", () => {
  it("is handed out again with a new log, and its record counts both", async () => {
    const setup = await planned();
    const { admin, agent, buildId, ids } = setup;
    const jobOf = async () => (await call<BuildJob>(admin, "GET", `/job/${ids.make}`)).body;
    expect(await jobOf()).toMatchObject({ status: "queued", attempt: 0, retries: 0 });
    const first = await startNextJob(agent);
    expect(await writeLog(setup, first, "the first try\n")).toBe(200);
    const answer = await callWithLease(agent, first, "POST", "finish", FAILED);
    expect(answer).toMatchObject({ status: 200, body: { status: "running" } });
    expect(await jobOf()).toMatchObject({
      ...{ status: "queued", attempt: 1, retries: 1, agentId: null, exitCode: null, reason: null, finishedAt: null },
      message: "Attempt 1 failed with exit code 3: retrying the job. Step make ended with exit code 3",
    });
    const { body: explained } = await call(admin, "GET", `/job/${ids.make}/explain`);
    expect(explained).toMatchObject({
      status: "queued",
      message: expect.stringMatching(/^1 try of at most 2 failed\. /),
    });
    const second = await startNextJob(agent);
    expect(second.job).toMatchObject({ id: ids.make, attempt: 2 });
    expect(await writeLog(setup, second, "the second try\n")).toBe(200);
    await callWithLease(agent, second, "POST", "finish", {
      status: "succeeded",
      exitCode: 0,
      outputs: { a: "second" },
    });
    expect(await jobOf()).toMatchObject({
      ...{ status: "succeeded", attempt: 2, retries: 1, message: null, outputs: { a: "second" } },
    });
    const log = async (query: string) => (await call(admin, "GET", `/job/${ids.make}/log${query}`)).text;
    expect(await log("?attempt=1")).toBe("the first try\n");
    expect(await log("?attempt=2")).toBe("the second try\n");
    expect(await log("")).toBe("the second try\n");
    const use = await finishNextJob(agent);
    expect(use.job?.needs.make).toMatchObject({ result: "success", outputs: { a: "second" } });
    const build = await readBuild(admin, buildId);
    expect(build).toMatchObject({ status: "succeeded", message: "1 job passed after a retry: make." });
    expect(build.jobs?.map((job) => "retries" in job)).toEqual([true, false]);
  });

  it("shows its tries and their logs on the pages of the build and the job", async () => {
    const { admin, agent, buildId, ids } = await planned();
    const person = await personWith(admin);
    const page = async (path: string) => (await person.open(path)).text;
    await finishNextJob(agent, FAILED);
    expect(await page(`/builds/${buildId}`)).toContain("waiting for its second try");
    const waiting = await page(`/jobs/${ids.make}`);
    expect(waiting).toContain("waiting for its second try");
    expect(waiting).toContain("Earlier attempts:");
    expect(waiting).toContain(`href="/app/jobs/${ids.make}/log?attempt=1"`);
    await startNextJob(agent).then((job) =>
      callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 }),
    );
    for (const path of [`/builds/${buildId}`, `/jobs/${ids.make}`])
      expect(await page(path)).toContain("passed on the second try");
    const passed = await page(`/jobs/${ids.make}`);
    expect(passed).toContain(`href="/app/jobs/${ids.make}/log?attempt=1"`);
    expect(passed).not.toContain("attempt 2</span>");
    expect(await page(`/jobs/${ids.use}`)).not.toContain(" try");
  });

  it("ends with its last try, and a retry of the failed jobs gives it all tries again", async () => {
    const { admin, agent, buildId } = await planned();
    await finishNextJob(agent, FAILED);
    await finishNextJob(agent, FAILED);
    const build = await readBuild(admin, buildId);
    expect(jobStatuses(build)).toEqual({ make: "failed", use: "dropped" });
    expect(build.jobs?.[0]).toMatchObject({ attempt: 2, retries: 1, message: FAILED.message });
    const again = await create(admin, `/build/${buildId}/retry`, { only: "failed" });
    await finishNextJob(agent, FAILED);
    await finishNextJob(agent);
    expect((await readBuild(admin, again.id)).jobs?.[0]).toMatchObject({ status: "succeeded", attempt: 2, retries: 1 });
  });

  it("is adopted with its tries by a retry of jobs that failed after it", async () => {
    const { admin, agent, buildId } = await planned();
    await finishNextJob(agent, FAILED);
    await finishNextJob(agent);
    await finishNextJob(agent, FAILED);
    const again = await create(admin, `/build/${buildId}/retry`, { only: "failed" });
    const job = await finishNextJob(agent);
    expect(job.job?.key).toBe("use");
    const build = await readBuild(admin, again.id);
    expect(build).toMatchObject({ status: "succeeded", message: null });
    expect(build.jobs?.[0]).toMatchObject({ status: "succeeded", adoptedFrom: buildId, attempt: 2, retries: 1 });
  });

  it("is not retried where an output contains a secret", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline, orgId } = setup;
    const secret = { key: "SECRET", value: "a very secret text", isSecret: true, scope: "organization", orgId };
    await create(admin, "/secrets/variables", secret);
    await triggerBuild(admin, pipeline.id);
    const { buildId } = await planNextBuild(agent, FILE);
    await finishNextJob(agent, { status: "succeeded", exitCode: 0, outputs: { a: "a very secret text" } });
    expect((await readBuild(admin, buildId)).jobs?.[0]).toMatchObject({
      reason: "output-refused",
      attempt: 1,
      retries: 0,
    });
  });
});

describe("a try that has ended", () => {
  it("accepts nothing more under its lease: no log, no progress, no other result, no secret", async () => {
    const setup = await planned();
    const { admin, agent, ids } = setup;
    const first = await startNextJob(agent);
    await writeLog(setup, first, "the first try\n");
    await callWithLease(agent, first, "POST", "finish", FAILED);
    expect(await callWithLease(agent, first, "POST", "finish", FAILED)).toMatchObject({ status: 200 });
    expectProblem(
      await callWithLease(agent, first, "POST", "finish", { status: "succeeded", exitCode: 0 }),
      409,
      "conflict",
    );
    expect(await writeLog(setup, first, "more\n")).toBe(409);
    expectProblem(await callWithLease(agent, first, "POST", "progress", { steps: [] }), 409, "lease-lost");
    const second = await startNextJob(agent);
    const late = { status: "succeeded", exitCode: 0, outputs: { a: "of the first" } };
    expectProblem(await callWithLease(agent, first, "POST", "finish", late), 409, "lease-lost");
    expectProblem(await callWithLease(agent, first, "POST", "release", { reason: "x" }), 409, "lease-lost");
    await callWithLease(agent, second, "POST", "finish", { status: "succeeded", exitCode: 0 });
    const { body } = await call<BuildJob>(admin, "GET", `/job/${ids.make}`);
    expect(body).toMatchObject({ status: "succeeded", outputs: {} });
  });

  it("is visible only to its organization", async () => {
    const { agent, ids } = await planned();
    await finishNextJob(agent, FAILED);
    const stranger = await newBuildSetup();
    for (const path of [`/job/${ids.make}`, `/job/${ids.make}/log?attempt=1`, `/job/${ids.make}/explain`])
      expect((await call(stranger.admin, "GET", path)).status).toBe(404);
    expect((await pollForJobs(stranger.agent)).status).toBe(204);
    expect((await pollForJobs(agent, "environment")).status).toBe(204);
  });
});

describe("a file of steps with `retry`", () => {
  it("is a build with one job, which is retried", async () => {
    const { admin, agent, buildId } = await planned("retry: 2\nsteps: [{ run: make }]\n");
    await finishNextJob(agent, FAILED);
    await finishNextJob(agent, FAILED);
    await finishNextJob(agent);
    const build = await readBuild(admin, buildId);
    expect(build).toMatchObject({ status: "succeeded", message: "1 job passed after a retry: build." });
    expect(build.jobs).toMatchObject([{ key: "build", attempt: 3, retries: 2 }]);
  });
});
