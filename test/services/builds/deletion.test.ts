import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { putLog } from "../../../src/archive/logs.ts";
import { putRecord } from "../../../src/archive/records.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { expectProblem, newOrganization, newRepository, newToken } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, logStub, poolStub } from "../../support/deployment.ts";
import { writeSummary } from "../../support/summary-row.ts";

const call = callDeployedWith({});
const CANARY = `canary-${crypto.randomUUID()}`;

/** Runs a build that writes the canary into its log, steps and summary. */
const ranBuild = async ({ admin, pipeline, agent }: BuildSetup): Promise<Build> => {
  await triggerBuild(admin, pipeline.id);
  const { body: job } = await pollOnce(agent);
  const { id } = job.build;
  const headers = { "X-Lease": String(job.lease) };
  await call(agent.token, "POST", `/build/${id}/start`, {}, headers);
  await call(agent.token, "POST", `/build/${id}/progress`, { summary: CANARY }, headers);
  const response = await call(agent.token, "PUT", `/build/${id}/log?offset=0&final=true`, CANARY, {
    ...headers,
    "Content-Type": "application/octet-stream",
  });
  expect(response.status, response.text).toBeLessThan(300);
  await call(agent.token, "POST", `/build/${id}/finish`, { status: "succeeded", exitCode: 0 }, headers);
  await poolStub(job.build.orgId).flush();
  const { body } = await call<Build>(admin, "GET", `/build/${id}`);
  expect(body).toMatchObject({ status: "succeeded", summary: CANARY });
  return body;
};

/** Returns archive keys and D1 rows that name the build, except the audit. */
const tracesOf = async ({ id }: { id: string }): Promise<unknown[]> => {
  const { objects } = await env.ARCHIVE.list();
  const { results } = await env.DB.prepare("SELECT id FROM build_summary WHERE id = ?").bind(id).all();
  return [...objects.map(({ key }) => key).filter((key) => key.includes(id)), ...results];
};

/** Returns the tables of the log's object, and its next alarm. */
const heldBy = (log: ReturnType<typeof logStub>) =>
  runInDurableObject(log as unknown as DurableObjectStub, async (_, { storage }) => {
    const tables = storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'");
    return { tables: tables.toArray(), alarm: await storage.getAlarm() };
  });

const READS = [
  ["GET", ""],
  ["GET", "/log"],
  ["GET", "/explain"],
  ["POST", "/retry"],
  ["POST", "/cancel"],
  ["DELETE", ""],
  ["DELETE", "/log"],
] as const;

describe("deleting a build", () => {
  let setup: BuildSetup;
  beforeEach(async () => {
    setup = await newBuildSetup();
  });

  it("removes it everywhere, and never reuses its number", async () => {
    const { admin, pipeline, orgId } = setup;
    const build = await ranBuild(setup);
    expect((await call(admin, "GET", `/build/${build.id}/log`)).text).toContain(CANARY);
    expect((await tracesOf(build)).length).toBeGreaterThan(0);
    expect((await call(admin, "DELETE", `/build/${build.id}`)).status).toBe(204);
    for (const [method, path] of READS) {
      expectProblem(await call(admin, method, `/build/${build.id}${path}`), 404, "not-found");
    }
    const follow = await call(admin, "GET", `/build/${build.id}/log`, undefined, { Accept: "text/event-stream" });
    expectProblem(follow, 404, "not-found");
    expect((await call(admin, "GET", "/build")).body).toEqual([]);
    await poolStub(orgId).flush();
    expect(await tracesOf(build)).toEqual([]);
    expect((await triggerBuild(admin, pipeline.id)).number).toBe(build.number + 1);
    await poolStub(orgId).flush();
    const audit = await call(admin, "GET", `/audit?action=build.delete`);
    expect(audit.body).toMatchObject([{ subject: build.id, actor: expect.stringMatching(/^token:/) }]);
  });

  it("removes it too when its pool has forgotten it", async () => {
    const { admin, orgId } = setup;
    const row = await writeSummary(orgId, { queued_at: Date.now() - 3 * 86_400_000 });
    const { body: build } = await call<Build>(admin, "GET", `/build/${row.id}`);
    await putRecord(env.ARCHIVE, { ...build, summary: CANARY });
    const owner = { day: (build.finishedAt ?? "").slice(0, 10), orgId, jobId: row.id };
    await putLog(env.ARCHIVE, owner, { attempt: 1, size: 1, text: new Blob(["x"]).stream(), times: [] });
    expect(await tracesOf(row)).toHaveLength(3);
    expect((await call(admin, "DELETE", `/build/${row.id}`)).status).toBe(204);
    expect(await tracesOf(row)).toEqual([]);
    for (const [method, path] of READS) {
      expectProblem(await call(admin, method, `/build/${row.id}${path}`), 404, "not-found");
    }
  });

  it("takes effect while the archive is unavailable, and removes the objects when it is back", async () => {
    const { admin, orgId } = setup;
    const build = await ranBuild(setup);
    const list = vi.spyOn(env.ARCHIVE, "list");
    list.mockRejectedValue(new Error("list: We encountered an internal error. (10001)"));
    expect((await call(admin, "DELETE", `/build/${build.id}`)).status).toBe(204);
    list.mockRestore();
    expectProblem(await call(admin, "GET", `/build/${build.id}`), 404, "not-found");
    expectProblem(await call(admin, "GET", `/build/${build.id}/log`), 404, "not-found");
    await poolStub(orgId).flush();
    expect(await tracesOf(build)).toEqual([]);
  });

  it("requires an ended build and a maintainer of its organization", async () => {
    const { admin, pipeline } = setup;
    const { id } = await triggerBuild(admin, pipeline.id);
    for (const path of [`/build/${id}`, `/build/${id}/log`]) {
      const answer = await call(admin, "DELETE", path);
      expectProblem(answer, 409, "conflict");
      expect(answer.body.detail).toContain("cancel it first");
    }
    await call(admin, "POST", `/build/${id}/cancel`);
    for (const path of [`/build/${id}`, `/build/${id}/log`]) {
      for (const role of ["viewer", "member"] as const) {
        expectProblem(await call(await newToken(admin, role), "DELETE", path), 403, "forbidden");
      }
      expectProblem(await call((await newOrganization()).admin, "DELETE", path), 404, "not-found");
    }
    expect((await call(admin, "GET", `/build/${id}`)).body.status).toBe("canceled");
    expect((await call(await newToken(admin, "maintainer"), "DELETE", `/build/${id}`)).status).toBe(204);
  });

  it("makes a repeat of its trigger answer that it was deleted", async () => {
    const { admin } = setup;
    const repository = await newRepository(admin, 2);
    const again = () =>
      call(admin, "POST", "/build", { repoId: repository.id }, { "Idempotency-Key": "once", "X-A": "b" });
    const { body: build } = await again();
    await call(admin, "POST", `/build/${build.id}/cancel`);
    expect((await call(admin, "DELETE", `/build/${build.id}`)).status).toBe(204);
    expectProblem(await again(), 409, "conflict");
  });
});

describe("deleting a log", () => {
  it("leaves its build, which can be retried", async () => {
    const setup = await newBuildSetup();
    const { admin, orgId } = setup;
    const build = await ranBuild(setup);
    const path = `/build/${build.id}/log`;
    expect((await call(admin, "DELETE", path)).status).toBe(204);
    const events = { Accept: "text/event-stream" };
    for (const answer of [
      await call(admin, "GET", path),
      await call(admin, "GET", path, undefined, events),
      await call(admin, "GET", `${path}?attempt=1`),
      await call(admin, "DELETE", path),
    ]) {
      expectProblem(answer, 404, "not-found");
      expect(answer.body.detail).toBe("The log of this build was deleted.");
    }
    expect((await call(admin, "GET", `/build/${build.id}`)).body).toEqual(build);
    expect((await call(admin, "POST", `/build/${build.id}/retry`)).status).toBe(201);
    await poolStub(orgId).flush();
    const audit = await call(admin, "GET", `/audit?action=log.delete`);
    expect(audit.body).toMatchObject([{ subject: build.id }]);
    expect((await call(admin, "DELETE", `/build/${build.id}`)).status).toBe(204);
    expect(await tracesOf(build)).toEqual([]);
  });

  it.each(["", "/log"])(
    "ends its followers' streams, and empties its object after its hour: DELETE /build/{id}%s",
    async (path) => {
      const setup = await newBuildSetup();
      const { admin, orgId } = setup;
      const build = await ranBuild(setup);
      const log = logStub(orgId, build.id);
      const follow = () => call(admin, "GET", `/build/${build.id}/log`, undefined, { Accept: "text/event-stream" });
      const read = await follow();
      expect(read.text).toContain(CANARY);
      expect(read.text).toContain("event: end");
      expect((await call(admin, "DELETE", `/build/${build.id}${path}`)).status).toBe(204);
      expectProblem(await follow(), 404, "not-found");
      await poolStub(orgId).flush();
      expect((await heldBy(log)).alarm).toBeGreaterThan(Date.now() + 55 * 60_000);
      await runDurableObjectAlarm(log);
      expect(await heldBy(log)).toEqual({ tables: [], alarm: null });
      const { objects } = await env.ARCHIVE.list({ prefix: "log/" });
      expect(objects.filter(({ key }) => key.includes(build.id))).toEqual([]);
    },
  );
});
