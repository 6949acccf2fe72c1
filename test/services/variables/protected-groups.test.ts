import { describe, expect, it } from "vitest";
import { call, create, expectProblem, newPipeline, newToken } from "../../support/api.ts";
import { newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";
import {
  COMMIT,
  callWithLease,
  finishNextJob,
  jobStatuses,
  planNextBuild,
  pollForJobs,
  startNextJob,
} from "../../support/jobs.ts";

const RELEASE = `jobs:
  test: { steps: [{ run: make }] }
  deploy: { needs: [test], groups: [release], steps: [{ run: make deploy }] }
`;

/** Creates a pipeline with a group that has one secret and this protection. */
const newProtected = async (protection: object) => {
  const setup = await newBuildSetup();
  const { admin, repository, orgId } = setup;
  const group = await create(admin, "/secrets/groups", { name: "release", protection });
  const secret = { key: "KEY", value: "the key of the release", isSecret: true, scope: "group", groupId: group.id };
  await create(admin, "/secrets/variables", { ...secret, orgId });
  const pipeline = await newPipeline(admin, repository.id, { name: "release", groupIds: [group.id] });
  return { ...setup, group, pipeline };
};

describe("a protected group's record", () => {
  it("has its protection, with null for omitted fields, and is in the audit", async () => {
    const { admin, group } = await newProtected({ branches: ["main", "release/**"] });
    const protection = { branches: ["main", "release/**"], tags: null, approval: null };
    expect(group.protection).toEqual(protection);
    expect((await call(admin, "GET", `/secrets/groups/${group.id}`)).body.protection).toEqual(protection);
    const audit = await call(admin, "GET", `/audit?action=group.create&subject=${group.id}`);
    expect(audit.body[0].detail.protection).toEqual(protection);
    const open = await call(admin, "PUT", `/secrets/groups/${group.id}`, { protection: null });
    expect(open.body.protection).toBe(null);
  });

  it("is rejected with invalid patterns, each with its place", async () => {
    const { admin } = await newBuildSetup();
    const protection = { branches: ["!main", "a b"], tags: [], approval: "owner" };
    const answer = await call(admin, "POST", "/secrets/groups", { name: "g", protection });
    expectProblem(answer, 422, "invalid");
    const { approval: _, ...patterns } = protection;
    const again = await call(admin, "POST", "/secrets/groups", { name: "g", protection: patterns });
    expect(again.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "/protection/branches/0",
      "/protection/branches/1",
      "/protection/tags",
    ]);
  });

  it("can be protected and unprotected only by roles that may give its approval", async () => {
    const { admin, group } = await newProtected({ approval: "admin" });
    const maintainer = await newToken(admin, "maintainer");
    const path = `/secrets/groups/${group.id}`;
    expectProblem(await call(maintainer, "PUT", path, { protection: null }), 403, "forbidden");
    expectProblem(
      await call(maintainer, "POST", "/secrets/groups", { name: "h", protection: { approval: "admin" } }),
      403,
      "forbidden",
    );
    const kept = { protection: group.protection, description: "still protected" };
    expect((await call(maintainer, "PUT", path, kept)).body).toMatchObject(kept);
    expect((await call(admin, "PUT", path, { protection: null })).status).toBe(200);
  });
});

describe("a protected group's variables", () => {
  it("are handed out only to a job that names the group", async () => {
    const { admin, agent, pipeline } = await newProtected({ branches: ["main"] });
    await triggerBuild(admin, pipeline.id);
    await planNextBuild(agent, RELEASE);
    expect((await finishNextJob(agent)).env).toEqual({});
    expect((await finishNextJob(agent)).env).toEqual({ KEY: "the key of the release" });
  });

  it("are never handed out to a build with one job, on request or with the poll", async () => {
    const { admin, agent, pipeline } = await newProtected({ branches: ["main"] });
    await triggerBuild(admin, pipeline.id);
    const job = await startNextJob(agent);
    const answer = await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT });
    expect(answer.body).toEqual({ env: {}, secretKeys: [], runKeys: [] });
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded" });
    await triggerBuild(admin, pipeline.id);
    expect((await pollOnce(agent)).body.env).toEqual({});
  });

  it.each([
    ["another branch", { branches: ["main"] }, "feature"],
    ["a tag where only branches are named", { branches: ["**"] }, "refs/tags/v1"],
    ["a branch where only tags are named", { tags: ["v*"] }, "main"],
    ["a pull request", { branches: ["**"], tags: ["**"] }, "refs/pull/7/head"],
  ])("are never handed out on %s: a job that names the group fails with a reason", async (_, protection, branch) => {
    const { admin, agent, pipeline } = await newProtected({ ...protection, approval: "admin" });
    await triggerBuild(admin, pipeline.id, { branch });
    const { buildId, ids } = await planNextBuild(agent, RELEASE);
    await finishNextJob(agent);
    expect((await pollForJobs(agent)).status).toBe(204);
    const job = (await call(admin, "GET", `/job/${ids.deploy}`)).body;
    expect(job).toMatchObject({ status: "failed", reason: "environment", gate: null });
    expect(job.message).toContain("release is protected");
    expect(await readBuild(admin, buildId)).toMatchObject({ status: "failed" });
  });

  it("cannot be overridden by the run's values, which only jobs without the group get", async () => {
    const { admin, agent, pipeline } = await newProtected({ branches: ["main"] });
    const member = await newToken(admin, "member");
    await triggerBuild(member, pipeline.id, { envVariables: { KEY: "elsewhere", OTHER: "1" } });
    await planNextBuild(agent, RELEASE);
    expect((await finishNextJob(agent)).env).toEqual({ KEY: "elsewhere", OTHER: "1" });
    expect((await finishNextJob(agent)).env).toEqual({ KEY: "the key of the release", OTHER: "1" });
  });

  it("require an approval by the group's role, not by the file's", async () => {
    const { admin, agent, pipeline } = await newProtected({ approval: "admin" });
    await triggerBuild(admin, pipeline.id);
    const text = RELEASE.replace("groups:", "gate: { by: member, message: Now? }, groups:");
    const { buildId, ids } = await planNextBuild(agent, text);
    await finishNextJob(agent);
    expect((await pollForJobs(agent)).status).toBe(204);
    const waiting = await readBuild(admin, buildId);
    expect(waiting.waitsFor).toMatchObject([{ jobId: ids.deploy, gate: { by: "admin", groups: ["release"] } }]);
    const maintainer = await newToken(admin, "maintainer");
    expectProblem(await call(maintainer, "POST", `/build/${buildId}/approve`), 403, "forbidden");
    const approved = await call(admin, "POST", `/build/${buildId}/approve`, { comment: "go" });
    expect(approved, approved.text).toMatchObject({ status: 200 });
    expect((await finishNextJob(agent)).env).toEqual({ KEY: "the key of the release" });
    expect(jobStatuses(await readBuild(admin, buildId))).toEqual({ test: "succeeded", deploy: "succeeded" });
  });

  it("are withheld if the group was protected after the plan", async () => {
    const { admin, agent, pipeline, group } = await newProtected({ branches: ["main"] });
    await triggerBuild(admin, pipeline.id);
    const { ids } = await planNextBuild(agent, RELEASE);
    await finishNextJob(agent);
    await call(admin, "PUT", `/secrets/groups/${group.id}`, { protection: { approval: "maintainer" } });
    expect((await pollForJobs(agent)).status).toBe(204);
    const job = (await call(admin, "GET", `/job/${ids.deploy}`)).body;
    expect(job).toMatchObject({ status: "failed", reason: "environment" });
    expect(job.message).toContain("role maintainer must approve it");
  });

  it("cannot be requested by a name that the pipeline does not have", async () => {
    const { admin, agent, pipeline } = await newProtected({ branches: ["main"] });
    const { id } = await triggerBuild(admin, pipeline.id);
    const root = await startNextJob(agent);
    const text = RELEASE.replace("[release]", "[realease]");
    const body = { commitSha: COMMIT, path: ".millrace.yml", text };
    expectProblem(await callWithLease(agent, root, "PUT", "plan", body), 404, "not-found");
    const answer = await call(agent.token, "PUT", `/build/${id}/plan`, body, { "X-Lease": String(root.lease) });
    expectProblem(answer, 422, "invalid");
    expect(await readBuild(admin, id)).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(answer.body.errors[0].detail).toContain("Did you mean `release`?");
  });
});
