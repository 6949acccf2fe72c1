import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { call, create } from "../../support/api.ts";
import { newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { logStub, poolStub } from "../../support/deployment.ts";
import { callWithLease, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { storedRows } from "../../support/stored-rows.ts";

const FAILED = { status: "failed", exitCode: 3 };
const FILE = `jobs:
  lint: { continue-on-error: true, steps: [{ run: lint }] }
  test: { steps: [{ run: test }] }
  deploy: { needs: [test], steps: [{ run: deploy }] }
`;

const setUp = async () => {
  const setup = await newBuildSetup();
  const { admin, orgId, pipeline, agent } = setup;
  const secret = { key: "SECRET", value: "a very secret text", isSecret: true, scope: "organization", orgId };
  await create(admin, "/secrets/variables", secret);
  await triggerBuild(admin, pipeline.id);
  const list = async () => (await call<Build[]>(admin, "GET", "/build")).body;
  /** Prints `printed` in the failing step, and `later` in a subsequent one. */
  const print = async (job: Job, printed: string, later = "") => {
    const id = job.job?.id ?? job.build.id;
    const at = (text: string): number => new TextEncoder().encode(text).length;
    const bytes = new TextEncoder().encode(`fetched\n${printed}${later}`);
    const lease = { "X-Lease": String(job.lease) };
    const sent = await call(agent.token, "PUT", `/build/${id}/log?offset=0&final=true`, bytes as never, lease);
    expect(sent, sent.text).toMatchObject({ status: 200 });
    const step = { id: null, name: "test", exitCode: 3, status: "failed", startedAt: null, finishedAt: null };
    const steps = [
      { ...step, logOffset: 8 },
      { ...step, name: "clean up", exitCode: 0, status: "succeeded", logOffset: 8 + at(printed) },
    ];
    expect((await callWithLease(agent, job, "POST", "progress", { steps })).status).toBe(204);
  };
  const finish = async (job: Job, result: object = FAILED) => {
    const answer = await callWithLease(agent, job, "POST", "finish", result);
    expect(answer, answer.text).toMatchObject({ status: 200 });
  };
  const end = async (job: Job, printed: string, later = "", result: object = FAILED) => {
    await print(job, printed, later);
    await finish(job, result);
  };
  return { ...setup, list, print, finish, end };
};

/** Lists the build before and after the pool reports its end to D1. */
const bothPlaces = async ({ orgId, list }: { orgId: string; list: () => Promise<Build[]> }) => {
  const [before] = await list();
  await poolStub(orgId).flush();
  const [after] = await list();
  return [before, after];
};

describe("the line that explains a build's failure", () => {
  it("is listed with the build: the failed step's line, masked", async () => {
    const setup = await setUp();
    const { body: job } = await pollOnce(setup.agent);
    expect((await callWithLease(setup.agent, job, "POST", "start")).status).toBe(200);
    await setup.end(job, "ok 1\nError: a very secret text is wrong\n", "Error: nothing to clean\n");
    for (const build of await bothPlaces(setup)) expect(build?.failedLine).toBe("Error: *** is wrong");
    const { body } = await call<Build>(setup.admin, "GET", `/build/${job.build.id}`);
    expect(body.failedLine).toBe("Error: *** is wrong");
  });

  it.each([
    ["that says nothing", "all is quiet\n", FAILED],
    ["that succeeded all the same", "Error: caught\n", { status: "succeeded", exitCode: 0 }],
  ])("is missing for a build %s", async (_, printed, result) => {
    const setup = await setUp();
    await setup.end(await startNextJob(setup.agent), printed, "", result);
    for (const build of await bothPlaces(setup)) expect(build).toMatchObject({ failedLine: null, jobCounts: null });
  });

  it("comes from the job that failed the build, next to the counts of how the jobs ended", async () => {
    const setup = await setUp();
    const { agent } = setup;
    await planNextBuild(agent, FILE);
    const running = await setup.list();
    expect(running).toMatchObject([{ jobCounts: { total: 3, waiting: 3, running: 0 }, failedLine: null }]);
    await setup.end(await startNextJob(agent), "Error: a matter of taste\n");
    await setup.end(await startNextJob(agent), "Error: 119 expected\n");
    const [before, after] = await bothPlaces(setup);
    expect(before).toMatchObject({ status: "failed" });
    expect(after).toMatchObject({ status: "failed", failedLine: "Error: 119 expected" });
    expect(after?.jobCounts).toEqual({ total: 3, waiting: 0, running: 0, succeeded: 0, failed: 2, stopped: 1 });
  });

  it("is missing for a canceled build, even if one of its jobs failed", async () => {
    const setup = await setUp();
    const { admin, agent } = setup;
    await planNextBuild(agent, "jobs: { test: { steps: [{ run: test }] }, slow: { steps: [{ run: slow }] } }");
    const job = await startNextJob(agent);
    await setup.end(job, "Error: 119 expected\n");
    expect((await call(admin, "POST", `/build/${job.build.id}/cancel`)).status).toBe(200);
    for (const build of await bothPlaces(setup)) expect(build).toMatchObject({ status: "canceled", failedLine: null });
  });

  it("is deleted everywhere with the log, and is never in the archive", async () => {
    const setup = await setUp();
    const { admin, orgId } = setup;
    const line = `Error: ${crypto.randomUUID()}`;
    const job = await startNextJob(setup.agent);
    await setup.end(job, `${line}\n`);
    await poolStub(orgId).flush();
    expect(await storedRows(orgId)).toContain(line);
    const { objects } = await env.ARCHIVE.list();
    for (const { key } of objects.filter(({ key }) => key.includes(job.build.id)))
      expect(await (await env.ARCHIVE.get(key))?.text()).not.toContain(line);
    expect((await call(admin, "DELETE", `/build/${job.build.id}/log`)).status).toBe(204);
    await poolStub(orgId).flush();
    expect(await storedRows(orgId)).not.toContain(line);
    expect(await setup.list()).toMatchObject([{ status: "failed", failedLine: null }]);
  });

  it("delays no result while the log is unavailable", async () => {
    const setup = await setUp();
    const job = await startNextJob(setup.agent);
    await setup.print(job, "Error: x\n");
    await runInDurableObject(logStub(setup.orgId, job.build.id) as unknown as DurableObjectStub, (_, { storage }) => {
      for (const [key] of storage.kv.list({ prefix: "piece/" })) storage.kv.put(key, "damaged");
    });
    await setup.finish(job);
    expect(await setup.list()).toMatchObject([{ status: "failed", failedLine: null }]);
  });
});
