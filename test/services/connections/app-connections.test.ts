import { env } from "cloudflare:workers";
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { call, create, newOrganization } from "../../support/api.ts";
import { newAppKeys } from "../../support/app-keys.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import type { HostedApp } from "../../support/recording-host/host-state.ts";

const { key, publicKey } = newAppKeys();
const APP: HostedApp = {
  id: 4242,
  clientId: "Iv23client",
  publicKey,
  installationId: 99,
  account: "acme",
  sees: [41, 42],
};
const GIVEN = { id: "4242", privateKey: key };

const furnished = async (app: Partial<HostedApp> = {}) => {
  const { admin, orgId } = await newOrganization();
  const host = await newHost({ kind: "github", app: { ...APP, ...app } });
  const make = (more: object) =>
    call(admin, "POST", "/connection", { kind: "github", name: "ours", webUrl: host.webUrl, ...more });
  return { admin, orgId, host, make };
};

const withApp = async (app: Partial<HostedApp> = {}) => {
  const made = await furnished(app);
  const { body: connection, text } = await made.make({ app: GIVEN });
  return { ...made, connection, text, path: `/connection/${connection.id}` };
};

const stored = (id: string) =>
  env.DB.prepare("SELECT * FROM connection WHERE id = ?").bind(id).first<Record<string, unknown>>();

describe("a connection with a GitHub App", () => {
  it("is created with the App's key, which no answer contains and only the sealed column stores", async () => {
    const { admin, connection, text, path, host } = await withApp();
    expect(connection).toMatchObject({
      auth: "app",
      hasToken: false,
      appId: "4242",
      installationId: "99",
      account: "acme",
    });
    const { text: shown } = await call(admin, "GET", path);
    const audit = await call(admin, "GET", "/audit?action=connection.create");
    const row = JSON.stringify(await stored(connection.id));
    for (const place of [text, shown, audit.text, row]) expect(place).not.toMatch(/PRIVATE KEY|MII/);
    const { requests } = await host.seen();
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(JSON.stringify(requests)).not.toMatch(/PRIVATE KEY|MII/);
  });

  it("directs the App's deliveries to itself, and again when it rotates", async () => {
    const { admin, path, host } = await withApp();
    const hook = await call(admin, "GET", `${path}/hook`);
    expect((await host.seen()).appHook).toEqual({ ...hook.body, content_type: "json", insecure_ssl: "0" });
    await call(admin, "POST", `${path}/rotate`);
    const next = await call(admin, "GET", `${path}/hook`);
    expect(next.body.secret).not.toBe(hook.body.secret);
    expect((await host.seen()).appHook).toMatchObject(next.body);
  });

  it("lists the App's repositories, and connects only those", async () => {
    const { admin, path, host } = await withApp();
    const list = await call(admin, "GET", `${path}/repository`);
    expect(list.body).toMatchObject([{ hostRepoId: 41, isPrivate: true }, { hostRepoId: 42 }]);
    const shop = await create(admin, `${path}/repository`, { hostRepoId: 41 });
    expect(shop).toMatchObject({ fullName: "acme/shop", hasHook: false, cloneUrl: `${host.webUrl}/acme/shop.git` });
    const unseen = await call(admin, "POST", `${path}/repository`, { fullName: "acme/docs" });
    expect(unseen).toMatchObject({ status: 409, body: { detail: expect.stringContaining("GitHub cannot find it") } });
    const { hooks, minted } = await host.seen();
    expect([hooks, minted.length]).toEqual([[], 1]);
  });

  it("checks which permissions the App lacks, and where its deliveries go", async () => {
    const { admin, path, host } = await withApp();
    const good = await call(admin, "GET", `${path}/check`);
    expect(good.body).toMatchObject({ isOk: true, problem: null, account: "acme", missing: [] });
    const permissions = { metadata: "read", contents: "write", pull_requests: "read", statuses: "read" };
    await host.change({ app: { ...APP, permissions } });
    const lesser = await call(admin, "GET", `${path}/check`);
    expect(lesser.body.isOk).toBe(false);
    expect(lesser.body.missing.map((one: string) => /permission (\w+: \w+)/.exec(one)?.[1])).toEqual([
      ...["statuses: write", "checks: write", "merge_queues: read"],
    ]);
  });

  it("accepts another key of the App, and no longer uses the previous one", async () => {
    const { admin, path, host, connection } = await withApp();
    const next = newAppKeys();
    await host.change({ app: { ...APP, publicKey: next.publicKey } });
    const wrong = await call(admin, "PUT", path, { app: { privateKey: key } });
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ pointer: "/app/privateKey" }] } });
    const { body } = await call(admin, "PUT", path, { app: { privateKey: next.key } });
    expect(body).toMatchObject({ auth: "app", appId: "4242", installationId: "99" });
    expect(await stored(connection.id)).toMatchObject({ sealed_version: 2, client_id: "Iv23client" });
    expect((await call(admin, "GET", `${path}/check`)).body.isOk).toBe(true);
  });

  it("leaves nothing at the host that works when it is deleted, and the audit records it", async () => {
    const { admin, path, host } = await withApp();
    await call(admin, "GET", `${path}/repository`);
    expect((await host.seen()).minted).toHaveLength(1);
    expect((await call(admin, "DELETE", path)).status).toBe(204);
    const { requests, minted } = await host.seen();
    expect(requests.at(-1)).toMatchObject({ method: "DELETE", path: "/app/installations/99", problems: [] });
    expect(minted).toEqual([]);
    const audit = await call(admin, "GET", "/audit?action=connection.delete");
    expect(audit.body).toMatchObject([{ detail: { isUninstalled: true } }]);
  });

  it("is deleted even if the host is unavailable, and the audit records that the App remains", async () => {
    const { admin, path, host } = await withApp();
    await host.change({ faults: [{ on: "DELETE /app/installations", answer: 502 }] });
    expect((await call(admin, "DELETE", path)).status).toBe(204);
    const audit = await call(admin, "GET", "/audit?action=connection.delete");
    expect(audit.body).toMatchObject([{ detail: { isUninstalled: false } }]);
  });
});

describe("an App that is not installed yet", () => {
  it("is reported, and is found once it is installed", async () => {
    const { admin, path, host } = await withApp({ installationId: undefined });
    const list = await call(admin, "GET", `${path}/repository`);
    expect(list).toMatchObject({ status: 409, body: { detail: expect.stringContaining("not installed yet") } });
    const early = await call(admin, "POST", `${path}/installation`);
    expect(early.body).toMatchObject({ installationId: null, pageUrl: expect.stringContaining("/github-apps/") });
    await host.change({ app: APP });
    const found = await call(admin, "POST", `${path}/installation`);
    expect(found.body).toMatchObject({ installationId: "99", account: "acme", hooks: [] });
    const audit = await call(admin, "GET", "/audit?action=connection.update");
    expect(audit.body).toMatchObject([{ action: "connection.update", detail: { auth: "app" } }]);
    expect((await call(admin, "GET", `${path}/repository`)).status).toBe(200);
    const again = await call(admin, "POST", `${path}/installation`);
    expect(again.headers.get("ETag")).toBe(found.headers.get("ETag"));
  });

  it("is a conflict for a connection without an App", async () => {
    const { admin, make } = await furnished();
    const { body } = await make({});
    expect((await call(admin, "POST", `/connection/${body.id}/installation`)).status).toBe(409);
  });
});

describe("a connection that switches from a token to an App", () => {
  it("keeps its hooks until the App delivers, then removes them and forgets the token", async () => {
    const { admin, make, host } = await furnished({ installationId: undefined });
    const { body: connection } = await make({ token: HOST_TOKEN });
    const path = `/connection/${connection.id}`;
    for (const hostRepoId of [41, 43]) await create(admin, `${path}/repository`, { hostRepoId });
    const moved = await call(admin, "PUT", path, { app: GIVEN });
    expect(moved.body).toMatchObject({ auth: "app", hasToken: false, hookGeneration: 1 });
    // The earlier hook and the App's hook deliver to the same address.
    const before = await host.seen();
    expect(before.hooks.map(({ url }) => url)).toEqual([before.appHook.url, before.appHook.url]);
    expect((await call(admin, "GET", `${path}/repository`)).body).toHaveLength(3);
    await host.change({ app: APP });
    const found = await call(admin, "POST", `${path}/installation`);
    expect(found.body.hooks).toMatchObject([
      { fullName: "acme/shop", problem: null },
      { fullName: "acme/docs", problem: expect.stringContaining("not installed for this repository") },
    ]);
    expect((await host.seen()).hooks).toMatchObject([{ repositoryId: 43 }]);
    await host.change({ app: { ...APP, sees: [41, 42, 43] } });
    expect((await call(admin, "POST", `${path}/installation`)).body.hooks).toMatchObject([{ problem: null }]);
    expect((await host.seen()).hooks).toEqual([]);
    expect(await stored(connection.id)).toMatchObject({ sealed_version: 3 });
    expect((await call(admin, "GET", `${path}/check`)).body).toMatchObject({ isOk: true, hooks: [] });
  });
});

describe("an App's credentials", () => {
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  it.each<[string, string]>([
    ["a public key", publicKey],
    ["an EC key in PKCS#8", ec.export({ type: "pkcs8", format: "pem" }).toString()],
    ["a small key", small.export({ type: "pkcs1", format: "pem" }).toString()],
    ["words", "canary-words"],
    ["the key of another App", newAppKeys().key],
  ])("are rejected without an echo, and nothing is stored: %s", async (_what, privateKey) => {
    const { admin, make, host } = await furnished();
    const refused = await make({ app: { id: "4242", privateKey } });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: "/app/privateKey" }] } });
    expect(refused.text).not.toMatch(/canary|MII|KEY-----/);
    expect((await call(admin, "GET", "/connection")).body).toEqual([]);
    expect((await host.seen()).appHook).toEqual({});
  });

  it.each<[string, object, string]>([
    ["an App for a GitLab", { kind: "gitlab", app: GIVEN }, "/app"],
    ["an App and a token", { app: GIVEN, token: HOST_TOKEN }, "/app"],
    ["an id with a path in it", { app: { ...GIVEN, id: "../4242" } }, "/app/id"],
    ["another App's id", { app: { ...GIVEN, id: "4243" } }, "/app/privateKey"],
    ["no id", { app: { privateKey: key } }, "/app/id"],
  ])("are rejected: %s", async (_what, body, pointer) => {
    const { make } = await furnished();
    const refused = await make(body);
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer }] } });
    expect(refused.text).not.toContain("KEY-----");
  });

  it("require the App's id where the connection has no App", async () => {
    const { admin, make } = await furnished();
    const { body } = await make({});
    const refused = await call(admin, "PUT", `/connection/${body.id}`, { app: { privateKey: key } });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: "/app/id" }] } });
  });
});
