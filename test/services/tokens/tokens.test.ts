import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Token } from "../../../src/protocol/token.ts";
import { call, create, expectProblem, newAgent, newOrganization } from "../../support/api.ts";
import { type BuildSetup, completeJob, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, databaseWithHook, poolStub } from "../../support/deployment.ts";

type Shown = Token & { token: string };

const token = (admin: string, more: object = {}): Promise<Shown> =>
  create(admin, "/token", { name: "t", kind: "api", role: "maintainer", ...more });

/** Sets one time column of a token's row to `ms` milliseconds from now. */
const set = (id: string, column: string, ms: number) =>
  env.DB.prepare(`UPDATE token SET ${column} = ? WHERE id = ?`)
    .bind(new Date(Date.now() + ms).toISOString(), id)
    .run();

const read = async (text: string) => (await call(text, "GET", "/secrets/groups")).status;
const write = async (text: string) =>
  (await call(text, "POST", "/secrets/groups", { name: crypto.randomUUID() })).status;

describe("a token", () => {
  it("is shown once, stored as a hash, and expires", async () => {
    const { admin } = await newOrganization();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const made = await token(admin, { expiresAt });
    expect(made).toMatchObject({ expiresAt, lastUsedAt: null, role: "maintainer" });
    expect([await read(made.token), await write(made.token)]).toEqual([200, 201]);
    for (const path of ["/token", "/token/self", "/audit"]) {
      expect((await call(admin, "GET", path)).text).not.toContain(made.token.slice(-42));
    }
    const row = await env.DB.prepare("SELECT * FROM token WHERE id = ?").bind(made.id).first();
    expect(JSON.stringify(row)).not.toContain(made.token.slice(-42));
    await set(made.id, "expires_at", -1);
    expect([await read(made.token), await write(made.token)]).toEqual([401, 401]);
    const past = { name: "t", kind: "api", expiresAt: "2020-01-01T00:00:00Z" };
    expectProblem(await call(admin, "POST", "/token", past), 422, "invalid");
  });

  it("keeps its old secret for the grace period of a rotation", async () => {
    const { admin } = await newOrganization();
    const { id, token: old } = await token(admin);
    const rotate = (graceSeconds?: number) =>
      call<Shown>(admin, "POST", `/token/${id}/rotate`, graceSeconds === undefined ? {} : { graceSeconds });
    const fresh = (await rotate(60)).body.token;
    expect(fresh).not.toBe(old);
    for (const text of [old, fresh]) {
      expect([await read(text), await write(text)]).toEqual([200, 201]);
      expect((await call(text, "GET", "/token/self")).body).toMatchObject({ id, name: "t" });
    }
    await set(id, "previous_until", -1);
    expect([await read(old), await write(old)]).toEqual([401, 401]);
    expect([await read(fresh), await write(fresh)]).toEqual([200, 201]);
    const third = (await rotate(0)).body.token;
    expect([await read(fresh), await write(fresh)]).toEqual([401, 401]);
    const fourth = (await rotate()).body.token;
    const fifth = (await rotate()).body.token;
    expect([await read(third), await read(fourth), await read(fifth)]).toEqual([401, 200, 200]);
    for (const bad of [-1, 604_801, 1.5, "60"]) expect((await rotate(bad as number)).status).toBe(422);
    await call(admin, "DELETE", `/token/${id}`);
    expect([await read(fourth), await read(fifth)]).toEqual([401, 401]);
  });

  it("stays the same caller for an idempotency key through its rotation", async () => {
    const { admin, pipeline } = await newBuildSetup();
    const { id, token: old } = await token(admin);
    const body = { pipelineId: pipeline.id, branch: "main", envVariables: { PIN: "1234" } };
    const ask = async (text: string, more: object = {}) =>
      (await call(text, "POST", "/build", { ...body, ...more }, { "Idempotency-Key": "once" })).body;
    const first = await ask(old);
    const { token: fresh } = (await call(admin, "POST", `/token/${id}/rotate`, {})).body;
    expect((await ask(fresh)).id).toBe(first.id);
    expect((await ask(fresh, { envVariables: { PIN: "1235" } })).status).toBe(422);
    expect((await ask(admin)).id).not.toBe(first.id);
  });

  it("stores its last use at most once a minute", async () => {
    const { admin } = await newOrganization();
    const { id, token: text } = await token(admin);
    const lastUsed = async () =>
      (await env.DB.prepare("SELECT last_used_at AS at FROM token WHERE id = ?").bind(id).first<{ at: string }>())?.at;
    await read(text);
    await expect.poll(lastUsed).not.toBeNull();
    const first = await lastUsed();
    for (let n = 0; n < 3; n++) await read(text);
    await set(id, "last_used_at", -59_000);
    const recent = await lastUsed();
    await read(text);
    await call(admin, "GET", "/token");
    expect(await lastUsed()).toBe(recent);
    await set(id, "last_used_at", -61_000);
    const stale = await lastUsed();
    await read(text);
    await expect.poll(lastUsed).not.toBe(stale);
    expect(Date.parse((await lastUsed()) ?? "")).toBeGreaterThanOrEqual(Date.parse(first ?? ""));
  });

  it("writes nothing more once revoked, whatever its role", async () => {
    const works = await newBuildSetup();
    const { admin, pipeline, repository } = works;
    const { id, token: text } = await token(admin, { role: "admin" });
    const registration = await token(admin, { kind: "registration", role: undefined });
    const variable = await create(text, "/secrets/variables", {
      ...{ key: "K", value: "v", isSecret: true, scope: "pipeline", pipelineId: pipeline.id },
    });
    const agentWanted = { name: "a", platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
    await create(registration.token, "/buildagent/register", agentWanted);
    for (const gone of [id, registration.id]) expect((await call(admin, "DELETE", `/token/${gone}`)).status).toBe(204);
    const attempts: [string, string, string, unknown?][] = [
      [text, "PUT", `/secrets/variables/${variable.id}`, { value: "w" }],
      [text, "POST", "/build", { pipelineId: pipeline.id, branch: "main" }],
      [text, "POST", "/token", { name: "again", kind: "api", role: "admin" }],
      [text, "DELETE", `/repository/${repository.id}`],
      [text, "DELETE", `/buildagent/${works.agent.id}`],
      [registration.token, "POST", "/buildagent/register", agentWanted],
    ];
    for (const [caller, method, path, body] of attempts) {
      const answer = await call(caller, method, path, body);
      expectProblem(answer, 401, "unauthenticated");
    }
    expect((await call(admin, "GET", "/build")).body).toEqual([]);
    expect((await call(admin, "GET", "/buildagent")).body).toHaveLength(2);
  });
});

describe("a removed agent", () => {
  it("gets and sends nothing more, even in the middle of a build", async () => {
    const { admin, agent, orgId, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    const { body: job } = await pollOnce(agent);
    const lease = { "X-Lease": String(job.lease) };
    expect((await call(agent.token, "POST", `/build/${id}/start`, undefined, lease)).status).toBe(200);
    expect((await call(admin, "DELETE", `/buildagent/${agent.id}`)).status).toBe(204);
    // The log decides by itself, and the pool's outbox closes it seconds later.
    await poolStub(orgId).flush();
    const attempts: [string, string, unknown?][] = [
      ["GET", `/buildagent/${agent.id}/poll`],
      ["POST", `/buildagent/${agent.id}/heartbeat`],
      ["PUT", `/build/${id}/log?offset=0`, new TextEncoder().encode("late")],
      ["POST", `/build/${id}/progress`, { summary: "late" }],
      ["POST", `/build/${id}/finish`, { status: "succeeded" }],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await call(agent.token, method, path, body, lease);
      expectProblem(answer, 401, "unauthenticated");
    }
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({ status: "queued" });
    const other = await newAgent(admin);
    const again = (await pollOnce(other)).body;
    expect(again.build.id).toBe(id);
    await completeJob(other, again);
    expect((await call(admin, "GET", `/build/${id}/log`)).text).not.toContain("late");
  });
});

describe("a hand-out under way", () => {
  it.each([
    ["its agent is removed", ({ agent }: BuildSetup) => ["DELETE", `/buildagent/${agent.id}`] as const],
    ["its build is canceled", (_: BuildSetup, id: string) => ["POST", `/build/${id}/cancel`] as const],
  ])("sends no byte once %s", async (_, doing) => {
    const works = await newBuildSetup();
    const { admin, agent, orgId, pipeline } = works;
    const value = `canary-${crypto.randomUUID()}`;
    await create(admin, "/secrets/variables", { key: "K", value, isSecret: true, scope: "organization", orgId });
    const { id } = await triggerBuild(admin, pipeline.id);
    let batches = 0;
    const between = databaseWithHook(async () => {
      batches += 1;
      const [method, path] = doing(works, id);
      if (batches === 1) expect((await call(admin, method, path)).status).toBeLessThan(300);
    });
    const answer = await callDeployedWith({ DB: between })(agent.token, "GET", `/buildagent/${agent.id}/poll`);
    expect(batches).toBeGreaterThan(0);
    expect([204, 401]).toContain(answer.status);
    expect(answer.text).not.toContain(value);
    await poolStub(orgId).flush();
    expect((await call(admin, "GET", "/audit?action=build.deliver")).body).toEqual([]);
  });
});

describe("a registration token", () => {
  it("grants its labels at most, and can only register agents", async () => {
    const { admin } = await newOrganization();
    const { token: text } = await token(admin, { kind: "registration", role: undefined, labels: ["mac", "big"] });
    const wanted = { name: "a", platform: 1, canBuildIOS: true, canBuildAndroid: false, canBuildWeb: true };
    expect((await create(text, "/buildagent/register", { ...wanted, labels: ["mac"] })).labels).toEqual(["mac"]);
    const refused = await call(text, "POST", "/buildagent/register", { ...wanted, labels: ["mac", "prod"] });
    expectProblem(refused, 422, "invalid");
    expect(refused.text).not.toContain("prod");
    for (const path of ["/buildagent", "/token/self", "/secrets/variables"]) {
      expectProblem(await call(text, "GET", path), 403, "forbidden");
    }
  });
});
