import { beforeAll, describe, expect, it } from "vitest";
import { call, expectProblem, newOrganization, newToken } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { finishNextJob, jobStatuses, planNextBuild, pollForJobs } from "../../support/jobs.ts";

const GATED = `jobs:
  deploy: { gate: { message: "Release?" }, steps: [{ run: make }] }
  after: { needs: [deploy], steps: [{ run: make }] }
`;

describe("a gate", () => {
  let setup: BuildSetup;
  let tokens: { viewer: string; member: string; maintainer: string };
  let buildId: string;
  let jobId: string;

  const gated = async (text = GATED) => {
    await triggerBuild(setup.admin, setup.pipeline.id);
    const planned = await planNextBuild(setup.agent, text);
    buildId = planned.buildId;
    jobId = planned.ids.deploy!;
  };

  beforeAll(async () => {
    setup = await newBuildSetup();
    const { admin } = setup;
    tokens = {
      viewer: await newToken(admin, "viewer"),
      member: await newToken(admin, "member"),
      maintainer: await newToken(admin, "maintainer"),
    };
    await gated();
  });

  it("holds the job back, with its question and the roles that may answer", async () => {
    const build = await readBuild(setup.admin, buildId);
    expect(jobStatuses(build)).toEqual({ deploy: "waiting", after: "waiting" });
    expect(build).toMatchObject({
      waitsFor: [{ jobId, key: "deploy", gate: { message: "Release?", by: "maintainer" } }],
    });
    expect((await pollForJobs(setup.agent)).status).toBe(204);
  });

  it("cannot be opened by an agent, a viewer, a member without the role, or another organization", async () => {
    for (const path of [`/job/${jobId}/approve`, `/build/${buildId}/approve`, `/job/${jobId}/reject`]) {
      expectProblem(await call(setup.agent.token, "POST", path), 403, "forbidden");
      expectProblem(await call(tokens.viewer, "POST", path), 403, "forbidden");
      expectProblem(await call(tokens.member, "POST", path), 403, "forbidden");
      expectProblem(await call((await newOrganization()).admin, "POST", path), 404, "not-found");
    }
    const long = { comment: "x".repeat(1001) };
    expectProblem(await call(tokens.maintainer, "POST", `/job/${jobId}/approve`, long), 422, "invalid");
    expect((await readBuild(setup.admin, buildId)).waitsFor).toHaveLength(1);
  });

  it("opens once: a repeated answer gets the same result, a different one is a conflict", async () => {
    const answer = await call(tokens.maintainer, "POST", `/job/${jobId}/approve`, { comment: "go" });
    expect(answer, answer.text).toMatchObject({ status: 200, body: { id: buildId, waitsFor: [] } });
    expect((await call(tokens.maintainer, "POST", `/job/${jobId}/approve`)).status).toBe(200);
    expectProblem(await call(setup.admin, "POST", `/job/${jobId}/reject`), 409, "conflict");
    const job = (await call(setup.admin, "GET", `/job/${jobId}`)).body;
    expect(job.gate.decision).toMatchObject({ approved: true, by: "maintainer", comment: "go" });
    await finishNextJob(setup.agent);
    await finishNextJob(setup.agent);
    expectProblem(await call(setup.admin, "POST", `/job/${jobId}/reject`), 409, "conflict");
    expect(await readBuild(setup.admin, buildId)).toMatchObject({ status: "succeeded" });
  });

  it("fails its job when rejected, and drops the jobs that need it", async () => {
    await gated();
    const answer = await call(tokens.maintainer, "POST", `/build/${buildId}/reject`, { comment: "not today" });
    expect(answer.body).toMatchObject({ status: "failed", reason: "gate-closed" });
    expect(jobStatuses(answer.body)).toEqual({ deploy: "failed", after: "dropped" });
    expectProblem(await call(setup.admin, "POST", `/build/${buildId}/approve`), 409, "conflict");
  });

  it("of a matrix needs one answer for all combinations", async () => {
    await gated("jobs:\n  deploy: { gate: {}, matrix: { to: [eu, us] }, steps: [{ run: x }] }\n");
    expect((await readBuild(setup.admin, buildId)).waitsFor).toMatchObject([{ key: "deploy" }]);
    const answer = await call(tokens.maintainer, "POST", `/build/${buildId}/approve`);
    expect(answer, answer.text).toMatchObject({ status: 200, body: { waitsFor: [] } });
    expect(jobStatuses(answer.body)).toEqual({ "deploy (eu)": "queued", "deploy (us)": "queued" });
    await finishNextJob(setup.agent);
    await finishNextJob(setup.agent);
  });

  it("is a conflict for a build or job that has ended or has no gate", async () => {
    await gated(
      "jobs:\n  deploy: { steps: [{ run: x }] }\n  after: { gate: {}, needs: [deploy], steps: [{ run: x }] }\n",
    );
    expectProblem(await call(setup.admin, "POST", `/job/${jobId}/approve`), 409, "conflict");
    const after = (await readBuild(setup.admin, buildId)).jobs?.[1]?.id;
    expectProblem(await call(setup.admin, "POST", `/job/${after}/approve`), 409, "conflict");
    await finishNextJob(setup.agent, { status: "failed", exitCode: 1 });
    for (const path of [`/job/${jobId}`, `/job/${after}`, `/build/${buildId}`])
      expectProblem(await call(setup.admin, "POST", `${path}/approve`), 409, "conflict");
    const { id } = await triggerBuild(setup.admin, setup.pipeline.id);
    expectProblem(await call(setup.admin, "POST", `/build/${id}/approve`), 409, "conflict");
    expectProblem(await call(setup.admin, "POST", `/build/${crypto.randomUUID()}/approve`), 404, "not-found");
    await call(setup.admin, "POST", `/build/${id}/cancel`);
  });

  it("is chosen by its job where a build has several", async () => {
    await gated("jobs:\n  deploy: { gate: {}, steps: [{ run: x }] }\n  other: { gate: {}, steps: [{ run: x }] }\n");
    expectProblem(await call(setup.admin, "POST", `/build/${buildId}/approve`), 409, "conflict");
    expect((await call(setup.admin, "POST", `/job/${jobId}/approve`)).status).toBe(200);
    expect((await call(setup.admin, "POST", `/build/${buildId}/approve`)).status).toBe(200);
    expect((await readBuild(setup.admin, buildId)).waitsFor).toEqual([]);
    await finishNextJob(setup.agent);
    await finishNextJob(setup.agent);
  });
});
