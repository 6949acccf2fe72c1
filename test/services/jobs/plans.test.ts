import { describe, expect, it } from "vitest";

import { call, create, expectProblem, newAgent } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import {
  COMMIT,
  callWithLease,
  finishNextJob,
  jobStatuses,
  planNextBuild,
  pollForJobs,
  sendPlan,
  startNextJob,
} from "../../support/jobs.ts";

const TWO = `jobs:
  test:
    outputs: { version: "\${{ steps.v.outputs.version }}" }
    steps: [{ id: v, run: make }]
  deploy:
    needs: [test]
    steps: [{ run: make deploy }]
`;

const newSecret = (setup: BuildSetup, key = "SECRET", value = "a very secret text") =>
  create(setup.admin, "/secrets/variables", {
    ...{ key, value, isSecret: true, scope: "organization", orgId: setup.orgId },
  });

describe("a build whose file is unread", () => {
  it("runs as its initial job, which has the build's id", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    expect((await call(admin, "GET", `/job/${id}/explain`)).body).toMatchObject({ buildId: id, status: "queued" });
    const job = await startNextJob(agent);
    await callWithLease(agent, job, "POST", "finish", { status: "failed", exitCode: 3 });
    const build = await readBuild(admin, id);
    const { body } = await call(admin, "GET", `/job/${id}`);
    expect(body).toMatchObject({ id, buildId: id, key: "build", status: "failed", exitCode: 3, steps: build.steps });
    expect(build.jobs).toBe(null);
    expectProblem(await call(admin, "POST", `/job/${id}/cancel`), 409, "conflict");
    expectProblem(await call(admin, "GET", `/job/${id}/tests`), 404, "not-found");
    expectProblem(await call(admin, "GET", `/job/${crypto.randomUUID()}`), 404, "not-found");
  });

  it("gets no secrets until its agent has read the file and requests them, masked in the log", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline } = setup;
    await newSecret(setup);
    const { id } = await triggerBuild(admin, pipeline.id);
    const job = await startNextJob(agent);
    expect(job).toMatchObject({ needsEnvironment: true, env: {}, secretKeys: [], build: { id } });
    expect((await readBuild(admin, id)).environment).toBe(null);
    const answer = await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT });
    expect(answer, answer.text).toMatchObject({ status: 200, body: { env: { SECRET: "a very secret text" } } });
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    const again = await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT });
    expect(again.body).toEqual(answer.body);
    expect(await readBuild(admin, id)).toMatchObject({ commitSha: COMMIT, environment: [{ key: "SECRET" }] });
    const bytes = new TextEncoder().encode("it is a very secret text\n");
    const lease = { "X-Lease": String(job.lease) };
    await call(agent.token, "PUT", `/job/${id}/log?offset=0&final=true`, bytes, lease);
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    expect((await call(admin, "GET", `/build/${id}/log`)).text).toBe("it is ***\n");
    await poolStub(setup.orgId).flush();
    const audit = await call(admin, "GET", `/audit?subject=${id}&action=build.deliver`);
    expect(audit.body[0].detail.keys).toEqual(["SECRET"]);
  });

  it("accepts steps with the request for the environment, masked with its secrets", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline } = setup;
    await newSecret(setup);
    const { id } = await triggerBuild(admin, pipeline.id);
    const job = await startNextJob(agent);
    const rest = { exitCode: null, startedAt: null, finishedAt: null, logOffset: null };
    const steps = [
      { id: "a", name: "say a very secret text", status: "running", ...rest },
      { id: null, name: "b", status: "pending", ...rest },
    ];
    expect(await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT, steps })).toMatchObject({
      status: 200,
    });
    expect((await readBuild(admin, id)).steps).toEqual([{ ...steps[0], name: "say ***" }, steps[1]]);
    const wrong = await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT, steps: [{ name: 1 }] });
    expectProblem(wrong, 422, "invalid");
  });

  it("gets its environment at once on an agent that cannot request it", async () => {
    const setup = await newBuildSetup();
    await newSecret(setup);
    await triggerBuild(setup.admin, setup.pipeline.id);
    const { body } = await pollOnce(setup.agent);
    expect(body.env).toEqual({ SECRET: "a very secret text" });
    expect(body.needsEnvironment).toBe(undefined);
  });

  it("gets no environment before the start, under another lease, or for another agent", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline } = setup;
    await triggerBuild(admin, pipeline.id);
    const { body: job } = await pollForJobs(agent);
    expectProblem(await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT }), 409, "conflict");
    await callWithLease(agent, job, "POST", "start");
    const stale = { ...job, lease: job.lease - 1 };
    expectProblem(await callWithLease(agent, stale, "POST", "environment", { commitSha: COMMIT }), 409, "lease-lost");
    const other = await newAgent(admin, { name: "other" });
    expectProblem(await callWithLease(other, job, "POST", "environment", { commitSha: COMMIT }), 409, "lease-lost");
  });

  it("gets no environment once it is canceled, and its agent, which keeps the lease, ends it at once", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline } = setup;
    const { id } = await triggerBuild(admin, pipeline.id);
    const job = await startNextJob(agent);
    await call(admin, "POST", `/build/${id}/cancel`);
    expectProblem(await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT }), 409, "conflict");
    expect(await readBuild(admin, id)).toMatchObject({ status: "canceling", environment: null });
    const ended = await callWithLease(agent, job, "POST", "finish", {
      status: "failed",
      exitCode: null,
      reason: "environment",
    });
    expect(ended.status).toBe(200);
    expect(await readBuild(admin, id)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("gets no environment for a canceled job, and its agent ends the job at once", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline } = setup;
    await triggerBuild(admin, pipeline.id);
    const { buildId, ids } = await planNextBuild(agent, TWO);
    const job = await startNextJob(agent);
    await call(admin, "POST", `/job/${ids.test}/cancel`);
    const again = await call(admin, "POST", `/build/${ids.test}/cancel`);
    expect(again).toMatchObject({ status: 200, body: { id: buildId, status: "running" } });
    expectProblem(await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT }), 409, "conflict");
    const ended = await callWithLease(agent, job, "POST", "finish", {
      status: "failed",
      exitCode: null,
      reason: "environment",
    });
    expect(ended.status).toBe(200);
    expect(jobStatuses(await readBuild(admin, buildId))).toMatchObject({ test: "canceled" });
  });
});

describe("a build's plan", () => {
  it("creates its jobs, which run in turn with the outputs of the jobs before them", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline } = setup;
    await newSecret(setup);
    await triggerBuild(admin, pipeline.id);
    const { buildId, ids } = await planNextBuild(agent, TWO);
    expect(Object.keys(ids)).toEqual(["test", "deploy"]);
    expect(jobStatuses(await readBuild(admin, buildId))).toEqual({ test: "queued", deploy: "waiting" });
    const outputs = { version: "1.2" };
    const first = await finishNextJob(agent, { status: "succeeded", exitCode: 0, outputs });
    expect(first.job).toMatchObject({ id: ids.test, key: "test", attempt: 1, needs: {}, path: ".millrace.yml" });
    expect(first.pipeline.definition).toBe(TWO);
    expect(first.env).toEqual({ SECRET: "a very secret text" });
    expect((await call(admin, "GET", `/job/${ids.test}`)).body).toMatchObject({ status: "succeeded", outputs });
    const second = await finishNextJob(agent);
    expect(second.job?.needs.test).toMatchObject({ result: "success", outputs });
    expect(second.build.id).toBe(buildId);
    expect(await readBuild(admin, buildId)).toMatchObject({ status: "succeeded", commitSha: COMMIT });
    expect((await call(admin, "GET", `/job/${ids.deploy}/explain`)).body.code).toBe("ended");
  });

  it("gets the same answer for the same text, and is a conflict for another", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    await triggerBuild(admin, pipeline.id);
    const { root, ids } = await planNextBuild(agent, TWO);
    const again = await sendPlan(agent, root, TWO);
    expect(again.body.jobs.map(({ id }: { id: string }) => id)).toEqual(Object.values(ids));
    expectProblem(await sendPlan(agent, root, `${TWO}\n`), 409, "conflict");
    const other = await newAgent(admin, { name: "other" });
    expectProblem(await sendPlan(other, root, TWO), 409, "lease-lost");
  });

  it("leaves its agent a log, and marks the build if a secret leaks there late", async () => {
    const { admin, agent, pipeline, repository } = await newBuildSetup();
    const credential = { kind: "token", value: "a very secret text" };
    await call(admin, "PUT", `/repository/${repository.id}/credential`, credential);
    const { id } = await triggerBuild(admin, pipeline.id);
    const { root } = await planNextBuild(agent, TWO);
    const bytes = new TextEncoder().encode("read with a very secret text\n");
    const lease = { "X-Lease": String(root.lease) };
    const answer = await call(agent.token, "PUT", `/job/${id}/log?offset=0&final=true`, bytes, lease);
    expect(answer, answer.text).toMatchObject({ status: 200 });
    expect(await readBuild(admin, id)).toMatchObject({ status: "queued", leak: true });
    expect((await call(admin, "GET", `/build/${id}/log`)).text).toBe("read with ***\n");
  });

  it("ends the build with all mistakes of the file", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    const root = await startNextJob(agent);
    const answer = await sendPlan(
      agent,
      root,
      "jobs:\n  a: { needs: [b], steps: [{ run: x }] }\n  c: { needs: [d], steps: [{ run: x }] }\n",
    );
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors).toHaveLength(2);
    const build = await readBuild(admin, id);
    expect(build).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(build.message?.split("\n")).toHaveLength(2);
    expect(build.message).toContain(".millrace.yml:2:");
  });

  it("is rejected where its text would not fit into one row", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    const root = await startNextJob(agent);
    expectProblem(await sendPlan(agent, root, `${TWO}#${"\u0001".repeat(150_000)}\n`), 422, "invalid");
    expect((await readBuild(admin, id)).message).toContain("unprintable");
  });

  it("reports a secret in a condition as a mistake with its place", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, pipeline } = setup;
    await newSecret(setup);
    await triggerBuild(admin, pipeline.id);
    const root = await startNextJob(agent);
    const answer = await sendPlan(agent, root, "jobs:\n  a: { if: vars.SECRET == 'x', steps: [{ run: x }] }\n");
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors).toEqual([
      { pointer: "/text", detail: "2:17: This is a secret, which only steps can read" },
    ]);
  });

  it("is rejected for another commit or file, if too large, after a cancel, and before the start", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id, { commitSha: COMMIT });
    const { body: root } = await pollForJobs(agent);
    expectProblem(await sendPlan(agent, root, TWO), 409, "conflict");
    await callWithLease(agent, root, "POST", "start");
    expectProblem(await sendPlan(agent, root, TWO, { commitSha: "d".repeat(40) }), 409, "conflict");
    expectProblem(await sendPlan(agent, root, "#".repeat(256 * 1024 + 1)), 413, "too-large");
    await call(admin, "POST", `/build/${id}/cancel`);
    expectProblem(await sendPlan(agent, root, TWO), 409, "conflict");
    await callWithLease(agent, root, "POST", "finish", { status: "canceled" });

    const other = await triggerBuild(admin, pipeline.id);
    const elsewhere = await startNextJob(agent);
    expectProblem(await sendPlan(agent, elsewhere, TWO, { path: "other.yml" }), 422, "invalid");
    expect(await readBuild(admin, other.id)).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
  });
});
