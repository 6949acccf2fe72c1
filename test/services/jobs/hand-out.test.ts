import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { call, create, expectProblem, newAgent } from "../../support/api.ts";
import { newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { logStub, poolStub } from "../../support/deployment.ts";
import type { Crossing } from "../../support/platform/crossing.ts";
import { fails } from "../../support/platform/effects.ts";
import { newPlatform } from "../../support/platform/platform.ts";
import { D1 } from "../../support/platform/texts.ts";

/** Polls while D1 fails for batches with at least `statements` statements. A hand-out's batch has several. */
const failingPoll = async (agent: Parameters<typeof pollOnce>[0], statements = 1) => {
  const only = (crossing: Crossing) => crossing.statements.length >= statements;
  const away = newPlatform().trouble("DB", fails(D1.overloaded), { only });
  const answer = await pollOnce(agent);
  away.end();
  expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, "5"]);
};

describe("builds whose environment cannot be assembled", () => {
  it("fail ten in a poll, which then pauses the agent; the next poll continues", async () => {
    const { orgId, admin, pipeline, agent } = await newBuildSetup();
    const secret = { key: "S", value: "some secret text", isSecret: true, scope: "organization", orgId };
    const { id } = await create(admin, "/secrets/variables", secret);
    await env.DB.prepare("UPDATE variable SET sealed = 'm1.s1.damaged' WHERE id = ?").bind(id).run();
    const builds: Build[] = [];
    for (let n = 0; n < 11; n++) builds.push(await triggerBuild(admin, pipeline.id));
    const statuses = () =>
      Promise.all(builds.map(async (build) => (await call(admin, "GET", `/build/${build.id}`)).body.status));
    const answer = await pollOnce(agent);
    expectProblem(answer as never, 503, "unavailable");
    expect(answer.headers.get("Retry-After")).toBe("30");
    expect((await statuses()).join()).toBe(`${"failed,".repeat(10)}queued`);
    expect((await pollOnce(agent)).status).toBe(204);
    expect(new Set(await statuses())).toEqual(new Set(["failed"]));
  });

  it("fail for too many variables before all of those are read", async () => {
    const { orgId, admin, pipeline, agent } = await newBuildSetup();
    await env.DB.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
       INSERT INTO variable (id, org_id, scope, owner_id, key, value, is_secret, is_active, allow_override, created_at, updated_at)
       SELECT ?1 || '-' || n, ?1, 'organization', ?1, 'K' || n, 'v', 0, 1, 1, '', '' FROM numbers`,
    )
      .bind(orgId)
      .run();
    const { id } = await triggerBuild(admin, pipeline.id);
    const { headers } = await pollOnce(agent);
    const [, read] = /read=(\d+)/.exec(headers.get("Server-Timing") ?? "") ?? [];
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({ status: "failed", reason: "environment" });
    expect(Number(read)).toBeLessThan(2 * LIMITS.activeVariables);
    const page = await call(admin, "GET", "/secrets/variables");
    expect([page.body.length, page.headers.get("Link")]).toEqual([100, expect.stringContaining('rel="next"')]);
  });
});

describe("a build that cannot be handed out while D1 is unavailable", () => {
  it("returns to the queue each time, and neither opens nor closes a log", async () => {
    const { orgId, admin, pipeline, agent } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    await failingPoll(agent);
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({ status: "queued", attempt: 0 });
    const tables = () =>
      runInDurableObject(logStub(orgId, id), (_log, { storage }) =>
        storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
      );
    await poolStub(orgId).flush();
    expect(await tables()).toEqual([]);
  });

  it("makes the pool pause, and each build explains that", async () => {
    const { admin, pipeline, agent } = await newBuildSetup();
    const builds = [await triggerBuild(admin, pipeline.id), await triggerBuild(admin, pipeline.id)];
    await failingPoll(agent);
    expect((await pollOnce(await newAgent(admin))).status).toBe(204);
    for (const { id } of builds) {
      const { body } = await call(admin, "GET", `/build/${id}/explain`);
      expect(body).toMatchObject({
        code: "dependency-away",
        message: expect.stringContaining("retries within 1 s"),
      });
    }
  });
});

describe("a build whose own rows make D1 fail", () => {
  it("delays no other build, whatever the error says", async () => {
    const { admin, pipeline, agent } = await newBuildSetup();
    const [hostile, other] = [await triggerBuild(admin, pipeline.id), await triggerBuild(admin, pipeline.id)];
    await failingPoll(agent, 2);
    const answer = await pollOnce(await newAgent(admin));
    expect([answer.status, answer.body.build?.id]).toEqual([200, other.id]);
    const { body } = await call(admin, "GET", `/build/${hostile.id}/explain`);
    expect(body).toMatchObject({
      code: "dependency-away",
      message: expect.stringMatching(/^It could not start/),
    });
  });
});
