import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { call, create, newAgent, newOrganization } from "../../support/api.ts";
import { newAppKeys } from "../../support/app-keys.ts";
import { completeJob, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import type { HostedApp } from "../../support/recording-host/host-state.ts";

const { key, publicKey } = newAppKeys();
const APP: HostedApp = { id: 4242, clientId: "Iv23client", publicKey, installationId: 99, account: "acme" };

afterEach(() => {
  vi.useRealTimers();
});

const furnished = async (app: Partial<HostedApp> = {}, proof: object = { app: { id: "4242", privateKey: key } }) => {
  const { admin, orgId } = await newOrganization();
  const host = await newHost({ kind: "github", app: { ...APP, ...app } });
  const body = { kind: "github", name: "ours", webUrl: host.webUrl, ...proof };
  const connection = await create(admin, "/connection", body);
  const path = `/connection/${connection.id}`;
  const repository = await create(admin, `${path}/repository`, { hostRepoId: 41, registersHook: false });
  const pipeline = await create(admin, "/pipeline", { repoId: repository.id, name: "test" });
  const agent = await newAgent(admin);
  const cloneTokens = async () => (await host.seen()).minted.filter(({ body: asked }) => asked.repository_ids);
  const next = async () => {
    await triggerBuild(admin, pipeline.id);
    return pollOnce(agent);
  };
  return { admin, orgId, host, path, repository, pipeline, agent, cloneTokens, next };
};

describe("a build from a GitHub App's repository", () => {
  it("is handed out with a token that can only read this repository", async () => {
    const { next, cloneTokens, host, agent } = await furnished();
    const { body: job } = await next();
    const [minted, ...others] = await cloneTokens();
    expect(others).toEqual([]);
    expect(minted?.body).toEqual({ repository_ids: [41], permissions: { contents: "read" } });
    expect(minted?.token.length).toBeGreaterThan(500);
    expect(job.repository.credential).toEqual({ kind: "token", username: "x-access-token", value: minted?.token });
    await completeJob(agent, job);
    // The service has the token in memory, and does not request it again for another build.
    expect((await next()).body.repository.credential).toEqual(job.repository.credential);
    expect(await cloneTokens()).toHaveLength(1);
    expect((await host.seen()).requests.flatMap(({ problems }) => problems)).toEqual([]);
  });

  it("has the token masked in its log, and nowhere else", async () => {
    const { next, agent, admin, orgId } = await furnished();
    const { body: job } = await next();
    const value = job.repository.credential?.value ?? "";
    const lease = { "X-Lease": String(job.lease) };
    await call(agent.token, "POST", `/build/${job.build.id}/start`, {}, lease);
    const text = `before ${value} between ${value.slice(0, 300)}\nafter`;
    await call(agent.token, "PUT", `/build/${job.build.id}/log?offset=0`, new TextEncoder().encode(text), {
      ...lease,
      "Content-Type": "text/plain",
    });
    await completeJob(agent, job);
    const log = await call(admin, "GET", `/build/${job.build.id}/log`);
    expect(log.text).toContain("before");
    expect(log.text).not.toContain(value);
    const rows = await Promise.all(
      ["build_summary", "connection", "repository", "audit_log", "job"].map((table) =>
        env.DB.prepare(`SELECT * FROM ${table} WHERE org_id = ?`).bind(orgId).all(),
      ),
    );
    expect(JSON.stringify(rows)).not.toMatch(/ghs_|canary-minted|PRIVATE KEY/);
  });

  it("gets a classic token where git hides the repository from a token of the newer format", async () => {
    const { next, cloneTokens, agent } = await furnished({ gitTakesClassicOnly: true });
    const { body: job } = await next();
    const minted = await cloneTokens();
    expect(minted.map(({ isClassic }) => isClassic)).toEqual([false, true]);
    expect(job.repository.credential?.value).toBe(minted[1]?.token);
    await completeJob(agent, job);
  });

  it("waits while the host is unavailable, uses no attempt, and is handed out later", async () => {
    const { next, host, agent, admin } = await furnished();
    await host.change({ faults: [{ on: "POST /app/installations/99/access_tokens", answer: 502, times: 1 }] });
    const refused = await next();
    expect(refused).toMatchObject({ status: 503, body: { type: "/problems/unavailable" } });
    expect(refused.headers.get("Retry-After")).toBe("5");
    const [build] = (await call(admin, "GET", "/build")).body;
    expect(build).toMatchObject({ status: "queued", attempt: 0 });
    vi.setSystemTime(Date.now() + 10_000);
    expect((await pollOnce(agent)).status).toBe(200);
  });

  it("is handed out without a token where GitHub gives none: the repository may be public", async () => {
    const { next, host } = await furnished();
    await host.change({ faults: [{ on: "POST /app/installations/99/access_tokens", answer: 422 }] });
    expect((await next()).body.repository.credential).toBeNull();
  });

  it("gets the stored credential where there is one", async () => {
    const { next, admin, repository, cloneTokens } = await furnished();
    await call(admin, "PUT", `/repository/${repository.id}/credential`, { kind: "token", value: "stored-value" });
    expect((await next()).body.repository.credential).toMatchObject({ value: "stored-value" });
    expect(await cloneTokens()).toEqual([]);
  });

  it.each([
    ["another host", "https://thief.example/acme/shop.git"],
    ["another port of the host", ":8443/acme/shop.git"],
    ["a name below the host's", "https://x.HOST/acme/shop.git"],
  ])("never gets a token for %s, whatever the record says", async (_what, address) => {
    const { next, admin, repository, host, cloneTokens } = await furnished();
    const name = new URL(host.webUrl).hostname;
    const cloneUrl = address.startsWith(":") ? `${host.webUrl}${address}` : address.replace("HOST", name);
    await env.DB.prepare("UPDATE repository SET clone_url = ? WHERE id = ?").bind(cloneUrl, repository.id).run();
    expect((await next()).body.repository.credential).toBeNull();
    expect(await cloneTokens()).toEqual([]);
    expect((await call(admin, "GET", `/repository/${repository.id}`)).body.cloneUrl).toBe(cloneUrl);
  });

  it("gets no token of a connection by token, which agents never get", async () => {
    const { next, cloneTokens, host } = await furnished({}, { token: HOST_TOKEN });
    const { text, body } = await next();
    expect(body.repository.credential).toBeNull();
    expect(text).not.toContain(HOST_TOKEN);
    expect(await cloneTokens()).toEqual([]);
    expect((await host.seen()).requests.filter(({ path }) => path.startsWith("/app"))).toEqual([]);
  });
});
