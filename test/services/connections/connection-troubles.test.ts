import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, create, expectProblem, newOrganization, newPipeline } from "../../support/api.ts";
import { callDeployedWith, databaseWithHook } from "../../support/deployment.ts";
import { deliver, eventHeaders } from "../../support/hooks.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import { newPush, SHA } from "../../support/host-events.ts";

const connected = async () => {
  const { admin, orgId } = await newOrganization();
  const host = await newHost({ kind: "github", repositories: [{ id: 41, fullName: "acme/app" }] });
  const body = { kind: "github", name: "ours", webUrl: host.webUrl, token: HOST_TOKEN };
  const { id } = await create(admin, "/connection", body);
  return { admin, orgId, host, id, path: `/connection/${id}` };
};

/** Returns the host's facts about the hook, so that a test can deliver with them. */
const asHost = (orgId: string, connectionId: string, { url, secret }: { url: string; secret: string }) => ({
  ...{ orgId, kind: "github" as const, connectionId, generation: 0, secret },
  token: new URL(url).pathname.slice("/hook/".length),
});

const push = (hook: ReturnType<typeof asHost>) => {
  const event = newPush(SHA("a"), { before: SHA("b") }) as { repository: object };
  const repository = { ...event.repository, id: 41, full_name: "acme/app", default_branch: "main" };
  return deliver(hook, eventHeaders("github", "push"), { ...event, repository });
};

describe("a hook that the service registered", () => {
  it("triggers builds, and after a rotation only at its new address: the old one answers 410", async () => {
    const { admin, orgId, host, id, path } = await connected();
    const repository = await create(admin, `${path}/repository`, { hostRepoId: 41 });
    await newPipeline(admin, repository.id);
    const [first] = (await host.seen()).hooks;
    const before = asHost(orgId, id, first!);
    const pushed = await push(before);
    expect(pushed, pushed.text).toMatchObject({ status: 202, body: { builds: [expect.any(String)] } });
    await call(admin, "POST", `${path}/rotate`);
    const [second] = (await host.seen()).hooks;
    expect((await push(before)).status).toBe(410);
    expect((await push(asHost(orgId, id, second!))).status).toBe(202);
    expect((await call(admin, "GET", `${path}/check`)).body.lastDeliveryAt).toEqual(expect.any(String));
    await call(admin, "DELETE", path);
    expect((await push(asHost(orgId, id, second!))).status).toBe(410);
  });

  it("is found again where the service stopped before it stored the hook's id", async () => {
    const { admin, host, path } = await connected();
    let isStopped = false;
    const DB = databaseWithHook(async (statements) => {
      isStopped ||= statements > 2;
      if (isStopped) throw new Error("D1_ERROR: killed here");
    });
    const killed = await callDeployedWith({ DB })(admin, "POST", `${path}/repository`, { hostRepoId: 41 });
    expect(killed.status).toBe(503);
    expect((await call(admin, "GET", "/repository")).body).toEqual([]);
    const [left] = (await host.seen()).hooks;
    expect(left).toBeDefined();
    const repository = await create(admin, `${path}/repository`, { hostRepoId: 41 });
    expect(repository.hasHook).toBe(true);
    expect((await host.seen()).hooks).toEqual([left]);
  });

  it("has an outdated address under a new key, until the connection is rotated", async () => {
    const { admin, host, path } = await connected();
    await create(admin, `${path}/repository`, { hostRepoId: 41 });
    const fresh = `k2:${btoa("another token key, of 32 bytes !")}`;
    const moved = callDeployedWith({ TOKEN_KEYS: `${fresh},${env.TOKEN_KEYS}` });
    const older = await moved(admin, "GET", `${path}/check`);
    expect(older.body.hooks).toMatchObject([{ problem: expect.stringContaining("outdated address") }]);
    await moved(admin, "POST", `${path}/rotate`);
    expect((await moved(admin, "GET", `${path}/check`)).body.hooks).toMatchObject([{ problem: null }]);
    expect((await host.seen()).hooks).toHaveLength(1);
  });
});

describe("a stored token", () => {
  it("opens for no other address, kind or connection, even after a change in the database", async () => {
    const other = await newHost({ kind: "github", token: HOST_TOKEN });
    for (const change of ["api_url = ?", "kind = 'gitea', name = ?", "sealed_version = 9, name = ?"]) {
      const { admin, path, id } = await connected();
      await env.DB.prepare(`UPDATE connection SET ${change} WHERE id = ?`).bind(`${other.webUrl}/api/v3`, id).run();
      expectProblem(await call(admin, "GET", `${path}/repository`), 409, "conflict");
    }
    const [{ admin, path, id }, thief] = [await connected(), await connected()];
    await env.DB.prepare("UPDATE connection SET sealed = (SELECT sealed FROM connection WHERE id = ?) WHERE id = ?")
      .bind(thief.id, id)
      .run();
    expectProblem(await call(admin, "GET", `${path}/repository`), 409, "conflict");
    expect((await other.seen()).requests).toEqual([]);
    expect((await call(admin, "DELETE", path)).status).toBe(204);
  });
});

describe("deleting a connection", () => {
  it("removes its rows while the host is unavailable, and names the hooks that remain", async () => {
    const { admin, host, path } = await connected();
    const { id } = await create(admin, `${path}/repository`, { hostRepoId: 41 });
    const columns = "repo_id, number, ref, base, head_sha, draft, labels_json, updated_at";
    await env.DB.prepare(`INSERT INTO open_pull (${columns}) VALUES (?, 1, 'r', 'main', 'x', 0, '[]', '')`)
      .bind(id)
      .run();
    await host.change({ faults: [{ on: "DELETE", answer: 500 }] });
    expect((await call(admin, "DELETE", path)).status).toBe(204);
    const audit = await call(admin, "GET", "/audit?action=connection.delete");
    expect(audit.body).toMatchObject([{ detail: { hooks: { removed: 0, left: ["acme/app"] } } }]);
    const { results } = await env.DB.prepare("SELECT * FROM open_pull WHERE repo_id = ?").bind(id).all();
    expect(results).toEqual([]);
  });

  it("continues after an interruption", async () => {
    const { admin, host, path } = await connected();
    await create(admin, `${path}/repository`, { hostRepoId: 41 });
    let deaths = 0;
    for (let status = 503; status === 503; deaths++) {
      let batches = 0;
      const DB = databaseWithHook(async () => {
        if (++batches > deaths) throw new Error("D1_ERROR: killed here");
      });
      ({ status } = await callDeployedWith({ DB })(admin, "DELETE", path));
      expect([204, 503]).toContain(status);
    }
    expect(deaths).toBeGreaterThan(3);
    expect((await host.seen()).hooks).toEqual([]);
    expect((await call(admin, "GET", path)).status).toBe(404);
  });

  it("is rejected with an outdated version, before anything is removed", async () => {
    const { admin, host, path } = await connected();
    await create(admin, `${path}/repository`, { hostRepoId: 41 });
    expectProblem(await call(admin, "DELETE", path, undefined, { "If-Match": '"v9"' }), 412, "stale-version");
    expectProblem(await call(admin, "PUT", path, { name: "x" }, { "If-Match": '"v9"' }), 412, "stale-version");
    expect((await host.seen()).hooks).toHaveLength(1);
  });
});

it("ignores hostile repository names from a host", async () => {
  const { admin, host, path } = await connected();
  const names = ["acme/../x", "a b/c", "acme/\u202eapp", "x", "acme/app?x", "/", `acme/${"x".repeat(500)}`];
  await host.change({ repositories: names.map((fullName, id) => ({ id, fullName })) });
  expect((await call(admin, "GET", `${path}/repository`)).body).toEqual([]);
  for (const hostRepoId of names.keys()) {
    expectProblem(await call(admin, "POST", `${path}/repository`, { hostRepoId }), 409, "conflict");
  }
  await host.change({ repositories: [{ id: 1, fullName: "acme/app", defaultBranch: "--upload-pack=x" }] });
  expectProblem(await call(admin, "POST", `${path}/repository`, { hostRepoId: 1 }), 409, "conflict");
  expect((await host.seen()).hooks).toEqual([]);
});
