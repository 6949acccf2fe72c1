import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { AuditEntry } from "../../../src/protocol/audit.ts";
import type { Token } from "../../../src/protocol/token.ts";
import { call, create, expectProblem, newAgent, newOrganization } from "../../support/api.ts";
import { newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, poolStub } from "../../support/deployment.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";

type Shown = Token & { token: string };

const api = (admin: string, more: object = {}): Promise<Shown> =>
  create(admin, "/token", { name: "t", kind: "api", role: "maintainer", ...more });
const registration = (admin: string, labels: string[] = []): Promise<Shown> =>
  create(admin, "/token", { name: "machines", kind: "registration", labels });
const later = (ms: number) => new Date(Date.now() + ms).toISOString();

describe("PUT /token/{id}", () => {
  it("changes the token's permissions from its next request on, and nothing else", async () => {
    const { admin } = await newOrganization();
    const { token: text, ...made } = await api(admin);
    const put = (body: object, headers = {}) => call(admin, "PUT", `/token/${made.id}`, body, headers);
    const write = async () => (await call(text, "POST", "/secrets/groups", { name: crypto.randomUUID() })).status;
    expect(await write()).toBe(201);
    const demoted = await put({ role: "viewer", name: "status board" });
    expect(demoted.body).toEqual({ ...made, role: "viewer", name: "status board", lastUsedAt: expect.any(String) });
    expect(demoted.headers.get("ETag")).toBe('"v2"');
    expect([await write(), (await call(text, "GET", "/secrets/groups")).status]).toEqual([403, 200]);
    expectProblem(await put({ role: "admin" }, { "If-Match": '"v1"' }), 412, "stale-version");
    const read = await call(admin, "GET", `/token/${made.id}`);
    expect([read.body.role, read.headers.get("ETag")]).toEqual(["viewer", '"v2"']);
    expect((await put(read.body)).headers.get("ETag")).toBe('"v2"');
    expect((await call(text, "GET", `/token/${made.id}`)).status).toBe(403);
    expect(await write()).toBe(403);
    await put({ role: "maintainer" });
    expect(await write()).toBe(201);
  });

  it("moves or removes the token's expiry", async () => {
    const { admin } = await newOrganization();
    const { id, token: text } = await api(admin);
    const put = (expiresAt: string | null) => call(admin, "PUT", `/token/${id}`, { expiresAt });
    expectProblem(await put(later(-1000)), 422, "invalid");
    const end = later(3_600_000);
    expect((await put(end)).body.expiresAt).toBe(end);
    await env.DB.prepare("UPDATE token SET expires_at = ? WHERE id = ?").bind(later(-1000), id).run();
    expect((await call(text, "GET", "/token/self")).status).toBe(401);
    const over = (await call(admin, "GET", `/token/${id}`)).body;
    expect((await call(admin, "PUT", `/token/${id}`, { ...over, name: "over" })).status).toBe(200);
    expect((await call(text, "GET", "/token/self")).status).toBe(401);
    expect((await put(null)).body.expiresAt).toBeNull();
    expect((await call(text, "GET", "/token/self")).status).toBe(200);
  });

  it("narrows the labels that a registration token may grant, which its agents keep", async () => {
    const { admin, orgId } = await newOrganization();
    const { id, token: text } = await registration(admin, ["mac", "release"]);
    const agent = await newAgent(text, { labels: ["release"] });
    const { body } = await call(admin, "PUT", `/token/${id}`, { labels: ["mac"] });
    expect(body.labels).toEqual(["mac"]);
    const wanted = { name: "b", platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
    const late = await call(text, "POST", "/buildagent/register", { ...wanted, labels: ["release"] });
    expectProblem(late, 422, "invalid");
    await newAgent(text, { labels: ["mac"] });
    expect((await call(admin, "GET", `/buildagent/${agent.id}`)).body.labels).toEqual(["release"]);
    const { body: audit } = await call<AuditEntry[]>(admin, "GET", `/audit?action=token.update&subject=${id}`);
    const labels = { from: ["mac", "release"], to: ["mac"] };
    expect(audit.map(({ detail }) => detail)).toEqual([{ name: "machines", changes: { labels } }]);
    await poolStub(orgId).flush();
  });

  it("rejects fields of the other kind of token, and read-only fields", async () => {
    const { admin } = await newOrganization();
    const one = await api(admin);
    const other = await registration(admin);
    const rows: [Shown, object, string][] = [
      [one, { labels: ["x"] }, "/labels"],
      [one, { role: null }, "/role"],
      [one, { role: "owner" }, "/role"],
      [one, { kind: "registration" }, "/kind"],
      [one, { lastUsedAt: later(0) }, "/lastUsedAt"],
      [one, { rôle: "admin" }, ""],
      [other, { role: "admin" }, "/role"],
      [other, { labels: null }, "/labels"],
      [other, { expiresAt: "tomorrow" }, "/expiresAt"],
    ];
    for (const [{ id }, body, pointer] of rows) {
      const answer = await call(admin, "PUT", `/token/${id}`, body);
      expectProblem(answer, 422, "invalid");
      expect(answer.body.errors[0].pointer, JSON.stringify(body)).toBe(pointer);
      expect((await call(admin, "GET", `/token/${id}`)).headers.get("ETag")).toBe('"v1"');
    }
  });

  it("lets the last admin step down: the operator creates another", async () => {
    const { admin, orgId } = await newOrganization();
    const { id } = (await call(admin, "GET", "/token/self")).body;
    expect((await call(admin, "PUT", `/token/${id}`, { role: "viewer" })).status).toBe(200);
    expect((await call(admin, "GET", "/token")).status).toBe(403);
    const { token } = (await call(env.OPERATOR_TOKEN ?? "", "POST", `/organization/${orgId}/token`)).body;
    expect((await call(token, "GET", "/token")).status).toBe(200);
  });
});

describe("DELETE /token/{id}?agents=true", () => {
  let admin = "";
  let works: Awaited<ReturnType<typeof newBuildSetup>>;
  const agentIds = async () => (await call(admin, "GET", "/buildagent")).body.map(({ id }: { id: string }) => id);

  beforeAll(async () => {
    works = await newBuildSetup();
    ({ admin } = works);
  });

  it("removes only the agents that the token registered, and frees their builds at once", async () => {
    const { id, token: text } = await registration(admin);
    const mine = [await newAgent(text), await newAgent(text)];
    const build = await triggerBuild(admin, works.pipeline.id);
    const { body: job } = await pollOnce(mine[0]!);
    const lease = { "X-Lease": String(job.lease) };
    await call(mine[0]!.token, "POST", `/build/${build.id}/start`, undefined, lease);
    expect((await call(admin, "DELETE", `/token/${id}?agents=true`)).status).toBe(204);
    expect(await agentIds()).toEqual([works.agent.id]);
    for (const agent of mine) expectProblem((await pollOnce(agent as never)) as never, 401, "unauthenticated");
    expect((await readBuild(admin, build.id)).status).toBe("queued");
    await call(admin, "POST", `/build/${build.id}/cancel`);
    await poolStub(works.orgId).flush();
    const audit = async (action: string): Promise<AuditEntry[]> =>
      (await call(admin, "GET", `/audit?action=${action}`)).body;
    expect((await audit("token.revoke"))[0]).toMatchObject({ subject: id, detail: { name: "machines", agents: true } });
    expect((await audit("agent.remove")).map(({ subject }) => subject).sort()).toEqual(
      mine.map((one) => one.id).sort(),
    );
  });

  it("removes the agents of an already revoked token too, and finds nothing the next time", async () => {
    const { id, token: text } = await registration(admin);
    const agent = await newAgent(text);
    expect((await call(admin, "DELETE", `/token/${id}`)).status).toBe(204);
    expect((await pollOnce(agent)).status).toBe(204);
    expect((await call(admin, "DELETE", `/token/${id}?agents=true`)).status).toBe(204);
    expect((await pollOnce(agent)).status).toBe(401);
    for (const query of ["", "?agents=true"]) {
      expectProblem(await call(admin, "DELETE", `/token/${id}${query}`), 404, "not-found");
    }
    expectProblem(await call(admin, "DELETE", `/token/${id}?agents=yes`), 422, "invalid");
  });

  it.each(["", "?agents=true"])("rejects a registration that was under way: with %j", async (query) => {
    const { id, token: text } = await registration(admin);
    const before = await agentIds();
    const AGENT_POOL = fakeObjects<Env["AGENT_POOL"]>((name) => {
      const pool = env.AGENT_POOL.getByName(name);
      const registerAgent = async (agent: Parameters<typeof pool.registerAgent>[0]) => {
        expect((await call(admin, "DELETE", `/token/${id}${query}`)).status).toBe(204);
        return pool.registerAgent(agent);
      };
      return { registerAgent };
    });
    const wanted = { name: "late", platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
    const ask = callDeployedWith({ AGENT_POOL });
    expect((await ask(text, "POST", "/buildagent/register", wanted)).status).toBe(401);
    expect(await agentIds()).toEqual(before);
  });
});
