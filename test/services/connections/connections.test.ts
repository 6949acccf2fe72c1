import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { HostKind } from "../../../src/protocol/connection.ts";
import { call, create, expectProblem, newOrganization, newToken } from "../../support/api.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import type { HostSettings } from "../../support/recording-host/host-state.ts";

const KINDS = HostKind.options;

const connectedTo = async (kind: HostKind, settings: Partial<HostSettings> = {}) => {
  const { admin, orgId } = await newOrganization();
  const host = await newHost({ kind, ...settings });
  const body = { kind, name: "ours", webUrl: host.webUrl, token: HOST_TOKEN };
  const connection = await create(admin, "/connection", body);
  return { admin, orgId, host, connection, path: `/connection/${connection.id}` };
};

describe.each(KINDS)("a connection to %s by token", (kind) => {
  it("names the token's account, and never reveals the token", async () => {
    const { admin, connection, path, host } = await connectedTo(kind);
    expect(connection).toMatchObject({ kind, auth: "token", hasToken: true, account: "builds", hookGeneration: 1 });
    const { text, headers } = await call(admin, "GET", path);
    expect(JSON.parse(text)).toEqual(connection);
    expect(headers.get("ETag")).toBe('"v1"');
    const list = await call(admin, "GET", "/connection");
    expect(list.body).toEqual([connection]);
    const audit = await call(admin, "GET", "/audit?action=connection.create");
    expect(audit.body).toMatchObject([{ detail: { name: "ours", kind, auth: "token" } }]);
    for (const shown of [text, list.text, audit.text]) expect(shown).not.toContain(HOST_TOKEN);
    const { requests } = await host.seen();
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
  });

  it("lists the host's repositories in pages, and marks connected ones", async () => {
    const { admin, path } = await connectedTo(kind);
    const repository = await create(admin, `${path}/repository`, { hostRepoId: 42 });
    const first = await call(admin, "GET", `${path}/repository?limit=2`);
    expect(first.body).toMatchObject([
      { hostRepoId: 41, fullName: "acme/shop", defaultBranch: "trunk", isPrivate: true, repositoryId: null },
      { hostRepoId: 42, fullName: "acme/tools", repositoryId: repository.id },
    ]);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("Link") ?? "")?.[1] ?? "";
    const second = await call(admin, "GET", new URL(next).pathname + new URL(next).search);
    expect(second.body).toMatchObject([{ hostRepoId: 43 }]);
    expect(second.headers.get("Link")).toBeNull();
  });

  it("registers a repository's hook once, even when the request is repeated", async () => {
    const { admin, connection, path, host } = await connectedTo(kind);
    const repository = await create(admin, `${path}/repository`, { fullName: "acme/shop" });
    expect(repository).toMatchObject({
      ...{ gitHostRepoId: 41, fullName: "acme/shop", defaultBranch: "trunk" },
      ...{ connectionId: connection.id, hasHook: true, cloneUrl: `${host.webUrl}/acme/shop.git` },
    });
    expect((await call(admin, "POST", `${path}/repository`, { hostRepoId: 41 })).body.id).toBe(repository.id);
    const hook = await call(admin, "GET", `${path}/hook`);
    const { hooks, requests } = await host.seen();
    expect(hooks).toMatchObject([{ repositoryId: 41, ...hook.body }]);
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(hook.headers.get("Cache-Control")).toBe("no-store");
    expect(hook.body.url).toMatch(/^https:\/\/millrace\.test\/hook\/mrh_/);
    const shown = await call(admin, "GET", "/audit?action=connection.reveal");
    expect(shown.body).toMatchObject([{ subject: connection.id }]);
    expect(shown.text).not.toContain(hook.body.secret);
  });

  it("rotates: the hooks at the host get the new address and secret", async () => {
    const { admin, path, host } = await connectedTo(kind);
    await create(admin, `${path}/repository`, { hostRepoId: 41 });
    const before = await call(admin, "GET", `${path}/hook`);
    const rotated = await call(admin, "POST", `${path}/rotate`);
    expect(rotated.body).toMatchObject({ hookGeneration: 2, hooks: [{ fullName: "acme/shop", problem: null }] });
    const after = await call(admin, "GET", `${path}/hook`);
    expect(after.body.url).not.toBe(before.body.url);
    expect(after.body.secret).not.toBe(before.body.secret);
    expect((await host.seen()).hooks).toMatchObject([after.body]);
    await host.change({ faults: [{ on: "", answer: 500 }] });
    const again = await call(admin, "POST", `${path}/rotate`);
    expect(again.body).toMatchObject({ hookGeneration: 3, hooks: [{ problem: expect.stringContaining("500") }] });
  });

  it("registers one hook at a time, and stops once the host is unavailable", async () => {
    const { admin, path, host } = await connectedTo(kind);
    for (const hostRepoId of [41, 42, 43]) await create(admin, `${path}/repository`, { hostRepoId });
    const rotation = async () => {
      const { length } = (await host.seen()).requests;
      const { body } = await call(admin, "POST", `${path}/rotate`);
      const methods = (await host.seen()).requests.slice(length).map(({ method }) => method);
      return { methods, problems: body.hooks.map(({ problem }: { problem: string | null }) => problem) };
    };
    const change = kind === "gitlab" ? "PUT" : "PATCH";
    const all = ["GET", change, "GET", change, "GET", change];
    expect(await rotation()).toEqual({ methods: all, problems: [null, null, null] });
    const isLimited = expect.stringMatching(/^\w+ limits the rate of requests/);
    await host.change({ faults: [{ on: "GET", answer: 403, headers: { "Retry-After": "60" } }] });
    const tried = await rotation();
    expect(tried.methods).toEqual(["GET", "GET"]);
    expect(tried.problems).toEqual([isLimited, isLimited, expect.stringMatching(/^Skipped: \w+ limits the rate/)]);
  });

  it("checks its hooks: working, outdated, or at a host that rejects the token", async () => {
    const { admin, path, host } = await connectedTo(kind);
    await create(admin, `${path}/repository`, { hostRepoId: 41 });
    const fine = await call(admin, "GET", `${path}/check`);
    expect(fine.body).toMatchObject({ waiting: 0, waitingSince: null, trouble: null, givenUp: [] });
    expect(fine.body).toMatchObject({
      isOk: true,
      account: "builds",
      hooks: [{ problem: null }],
      lastDeliveryAt: null,
    });
    await host.change({ faults: [{ on: kind === "gitlab" ? "PUT" : "PATCH", answer: 403 }] });
    await call(admin, "POST", `${path}/rotate`);
    const older = await call(admin, "GET", `${path}/check`);
    expect(older.body).toMatchObject({
      isOk: false,
      hooks: [{ problem: expect.stringContaining("outdated address") }],
    });
    await host.change({ faults: [{ on: "GET", answer: 401 }] });
    const refused = await call(admin, "GET", `${path}/check`);
    expect(refused.body).toMatchObject({ isOk: false, problem: expect.stringContaining("does not accept the token") });
  });

  it("checks how a repository differs at the host", async () => {
    const { admin, path, host } = await connectedTo(kind);
    const one = await create(admin, `${path}/repository`, { hostRepoId: 41 });
    const differences = async () => (await call(admin, "GET", `${path}/check`)).body;
    expect(await differences()).toMatchObject({ isOk: true, differences: [] });
    const change = { cloneUrl: `${host.webUrl}/acme/shop-before.git` };
    await call(admin, "PUT", `/repository/${one.id}`, change);
    const detail = `The clone address is ${change.cloneUrl}, but the host calls the repository acme/shop: change the address if it was renamed.`;
    const told = [{ repositoryId: one.id, fullName: "acme/shop", detail }];
    expect(await differences()).toMatchObject({ isOk: true, differences: told });
    for (const cloneUrl of [`${host.webUrl}/Acme/Shop`, "https://mirror.example/other/name.git"]) {
      await call(admin, "PUT", `/repository/${one.id}`, { cloneUrl });
      expect((await differences()).differences).toEqual([]);
    }
  });

  it("removes its hooks when a repository or the connection is deleted", async () => {
    const { admin, path, host, connection } = await connectedTo(kind);
    const [shop, tools, docs] = [
      await create(admin, `${path}/repository`, { hostRepoId: 41 }),
      await create(admin, `${path}/repository`, { hostRepoId: 42 }),
      await create(admin, `${path}/repository`, { hostRepoId: 43 }),
    ];
    const unlinked = await call(admin, "PUT", `/repository/${shop.id}`, { connectionId: null });
    expect(unlinked.body).toMatchObject({ connectionId: null, hasHook: false });
    expect((await call(admin, "DELETE", `/repository/${tools.id}`)).status).toBe(204);
    expect((await host.seen()).hooks).toMatchObject([{ repositoryId: 43 }]);
    expect((await call(admin, "DELETE", path)).status).toBe(204);
    expect((await host.seen()).hooks).toEqual([]);
    expect((await call(admin, "GET", path)).status).toBe(404);
    expect((await call(admin, "GET", `/repository/${docs.id}`)).body).toMatchObject({ connectionId: null });
    const audit = await call(admin, "GET", "/audit?action=connection.delete");
    expect(audit.body).toMatchObject([{ subject: connection.id, detail: { hooks: { removed: 1, left: [] } } }]);
  });

  it("stores nothing where the host rejects it, and names the missing permission", async () => {
    const { admin, path } = await connectedTo(kind, { mayManageHooks: false });
    const refused = await call(admin, "POST", `${path}/repository`, { hostRepoId: 41 });
    expectProblem(refused, 409, "conflict");
    expect(refused.body.detail).toMatch(/admin:repo_hook|Maintainer|write:repository/);
    expect((await call(admin, "GET", "/repository")).body).toEqual([]);
    const byHand = await create(admin, `${path}/repository`, { hostRepoId: 41, registersHook: false });
    expect(byHand).toMatchObject({ hasHook: false });
  });

  it("answers with a problem, whatever the address returns", async () => {
    const { admin, path, host } = await connectedTo(kind);
    const cases = [
      ["html", 409, "conflict"],
      ["large", 409, "conflict"],
      ["elsewhere", 503, "unavailable"],
      ["loop", 503, "unavailable"],
      [500, 503, "unavailable"],
      [401, 409, "conflict"],
    ] as const;
    for (const [answer, status, problem] of cases) {
      await host.change({ faults: [{ on: "", answer, body: HOST_TOKEN }] });
      for (const [method, at, body] of [
        ["GET", "/repository"],
        ["POST", "/repository", { hostRepoId: 41 }],
      ] as const) {
        const got = await call(admin, method, path + at, body);
        expectProblem(got, status, problem);
        expect(got.text).not.toContain(HOST_TOKEN);
      }
      expect((await call(admin, "GET", `${path}/check`)).body.problem).toEqual(expect.any(String));
    }
    const thieves = await fetch("https://recorder.example/thief.example");
    expect(thieves.status).toBe(404);
  });
});

it.each([
  ["a name that leads elsewhere in the API", { fullName: "acme/../../admin" }],
  ["a name without an owner", { fullName: "acme" }],
  ["a name with markup and a line break", { fullName: "acme/<b>\n" }],
  ["a default branch that git rejects", { fullName: "acme/x", defaultBranch: "a..b" }],
  ["a default branch that is an option", { fullName: "acme/x", defaultBranch: "--upload-pack=x" }],
  ["half a character in its name", { fullName: "acme/x\ud800" }],
  ["a long name", { fullName: `acme/${"x".repeat(5_000)}` }],
])("a repository with %s at its host is not connected, and breaks no list", async (_, told) => {
  const repository = { id: 7, ...told };
  const { admin, path } = await connectedTo("gitea", { account: `${"x".repeat(9_000)}\n`, repositories: [repository] });
  const list = await call(admin, "GET", `${path}/repository`);
  expect([200, 409]).toContain(list.status);
  expectProblem(await call(admin, "POST", `${path}/repository`, { hostRepoId: repository.id }), 409, "conflict");
  expect((await call(admin, "GET", "/repository")).body).toEqual([]);
  const [found] = (await call(admin, "GET", "/connection")).body;
  expect(found.account).toMatch(/^x{1,250}$/);
});

it("no hook stays at the host when the connection is deleted while a repository is connected", async () => {
  const { admin, connection, path, host } = await connectedTo("github");
  const trigger = `CREATE TRIGGER deleted_meanwhile BEFORE INSERT ON repository WHEN new.connection_id = '${connection.id}'
    BEGIN SELECT RAISE(ABORT, 'a part of the database is unavailable'); END`;
  await env.DB.prepare(trigger).run();
  try {
    const refused = await call(admin, "POST", `${path}/repository`, { hostRepoId: 41 });
    expect(refused.status).toBeGreaterThanOrEqual(409);
  } finally {
    await env.DB.prepare("DROP TRIGGER deleted_meanwhile").run();
  }
  expect((await host.seen()).hooks).toEqual([]);
});

it("the hook stays when two requests connect a repository at once", async () => {
  const { admin, path, host } = await connectedTo("github");
  const body = { hostRepoId: 41 };
  const answers = await Promise.all([1, 2, 3].map(() => call(admin, "POST", `${path}/repository`, body)));
  expect(answers.some(({ status }) => status < 300)).toBe(true);
  const { hooks } = await host.seen();
  expect(hooks.length).toBeGreaterThan(0);
  expect((await call(admin, "GET", `${path}/check`)).body).toMatchObject({ hooks: [{ problem: null }] });
});

describe("a connection without a token", () => {
  const byHand = async () => {
    const { admin } = await newOrganization();
    const connection = await create(admin, "/connection", {
      kind: "gitea",
      name: "h",
      webUrl: "https://git.example/",
    });
    return { admin, connection, path: `/connection/${connection.id}` };
  };

  it("has its hook's address and secret, and connects repositories by their numbers", async () => {
    const { admin, connection, path } = await byHand();
    expect(connection).toMatchObject({ auth: "none", hasToken: false, account: null, webUrl: "https://git.example" });
    expect(connection.apiUrl).toBe("https://git.example/api/v1");
    expect((await call(admin, "GET", `${path}/check`)).body).toMatchObject({ isOk: true, account: null, hooks: [] });
    expect((await call(admin, "GET", `${path}/repository`)).body).toEqual([]);
    expectProblem(await call(admin, "POST", `${path}/repository`, { fullName: "acme/shop" }), 422, "invalid");
    expectProblem(await call(admin, "POST", `${path}/repository`, { hostRepoId: 7 }), 422, "invalid");
    const repository = await create(admin, `${path}/repository`, { hostRepoId: 7, fullName: "acme/shop" });
    expect(repository).toMatchObject({ cloneUrl: "https://git.example/acme/shop.git", hasHook: false });
  });

  it("connects no repository while it is disabled", async () => {
    const { admin, path } = await byHand();
    await call(admin, "PUT", path, { isActive: false });
    const body = { hostRepoId: 7, fullName: "acme/shop" };
    expectProblem(await call(admin, "POST", `${path}/repository`, body), 409, "conflict");
    await call(admin, "PUT", path, { isActive: true });
    await create(admin, `${path}/repository`, body);
  });

  it("adopts an existing repository by its clone address", async () => {
    const { admin, path, connection } = await byHand();
    const own = { gitHostRepoId: 1, fullName: "acme/shop", cloneUrl: "https://git.example/acme/shop.git" };
    const { id } = await create(admin, "/repository", own);
    const linked = await create(admin, `${path}/repository`, { hostRepoId: 7, fullName: "acme/shop" });
    expect(linked).toMatchObject({ id, gitHostRepoId: 7, connectionId: connection.id });
  });

  it("cannot be used for another organization's repository", async () => {
    const { connection } = await byHand();
    const { admin } = await newOrganization();
    const body = { gitHostRepoId: 1, fullName: "a/b", cloneUrl: "https://git.example/a/b.git" };
    expectProblem(await call(admin, "POST", "/repository", { ...body, connectionId: connection.id }), 422, "invalid");
    const { id } = await create(admin, "/repository", body);
    expectProblem(await call(admin, "PUT", `/repository/${id}`, { connectionId: connection.id }), 422, "invalid");
  });
});

describe("a git host's address", () => {
  it("must be public, use https and contain no credentials", async () => {
    const { admin } = await newOrganization();
    const refused = [
      ...["http://git.example", "https://localhost", "https://127.0.0.1", "https://0x7f.1", "https://2130706433"],
      ...["https://[::1]", "https://u:p@git.example", "https://git.example@evil.example", "https://millrace.test"],
      ...[
        "https://git.localhost",
        "https://git",
        "https://git.internal",
        "ftp://git.example",
        "git.example",
        "https://",
      ],
      ...["https://git.example?x=1", "https://git.example#x", "https:\\\\git.example", "https://git.example/%2e%2e"],
      ...["https://localhost.", "https://MILLRACE.test", "javascript:alert(1)", "https://git.example/ x"],
    ];
    for (const webUrl of refused) {
      for (const body of [{ webUrl }, { webUrl: "https://git.example", apiUrl: webUrl }]) {
        const got = await call(admin, "POST", "/connection", { kind: "github", name: "x", ...body, token: HOST_TOKEN });
        expectProblem(got, 422, "invalid");
        expect(got.text, webUrl).not.toContain(HOST_TOKEN);
      }
    }
    expect((await call(admin, "GET", "/connection")).body).toEqual([]);
  });

  it("determines the API's address", async () => {
    const { admin } = await newOrganization();
    const apiOf = async (kind: string, webUrl: string) =>
      (await create(admin, "/connection", { kind, name: "x", webUrl })).apiUrl;
    expect(await apiOf("github", "https://github.com")).toBe("https://api.github.com");
    expect(await apiOf("github", "https://acme.ghe.com/")).toBe("https://api.acme.ghe.com");
    expect(await apiOf("github", "https://GHE.acme.example")).toBe("https://ghe.acme.example/api/v3");
    expect(await apiOf("gitlab", "https://gitlab.com")).toBe("https://gitlab.com/api/v4");
    expect(await apiOf("gitlab", "https://acme.example/git/")).toBe("https://acme.example/git/api/v4");
  });

  it("binds the token: another address requires the token again", async () => {
    const { admin, path, host } = await connectedTo("gitea");
    const moved = { webUrl: "https://thief.example" };
    const got = await call(admin, "PUT", path, moved);
    expectProblem(got, 422, "invalid");
    expect(got.body.errors).toMatchObject([{ pointer: "/token" }]);
    expectProblem(await call(admin, "PUT", path, { apiUrl: "https://thief.example/api/v1" }), 422, "invalid");
    const without = await call(admin, "PUT", path, { ...moved, token: null });
    expect(without.body).toMatchObject({ hasToken: false, auth: "none", account: null, webUrl: moved.webUrl });
    const back = await call(admin, "PUT", path, { webUrl: host.webUrl, token: HOST_TOKEN });
    expect(back.body).toMatchObject({ hasToken: true, account: "builds" });
    const read = await call(admin, "GET", path);
    expect((await call(admin, "PUT", path, { ...read.body, name: "renamed" })).body).toMatchObject({ name: "renamed" });
  });
});

describe("a git host's token", () => {
  it("is not stored if the host rejects it", async () => {
    const { admin } = await newOrganization();
    const host = await newHost({ kind: "github" });
    const body = { kind: "github", name: "x", webUrl: host.webUrl };
    const wrong = await call(admin, "POST", "/connection", { ...body, token: "canary-of-a-wrong-token" });
    expectProblem(wrong, 422, "invalid");
    expect(wrong.body.errors).toMatchObject([
      { pointer: "/token", detail: expect.stringContaining("does not accept") },
    ]);
    expect(wrong.text).not.toContain("canary");
    const elsewhere = { ...body, webUrl: `${host.webUrl}/nothing`, token: HOST_TOKEN };
    expectProblem(await call(admin, "POST", "/connection", elsewhere), 422, "invalid");
    for (const token of ["", "two words", "line\nbreak", "x".repeat(4001), "ключ"]) {
      expectProblem(await call(admin, "POST", "/connection", { ...body, token }), 422, "invalid");
    }
    expect((await call(admin, "GET", "/connection")).body).toEqual([]);
  });

  it("requires an admin: maintainers may only connect repositories", async () => {
    const { admin, path } = await connectedTo("gitlab");
    const maintainer = await newToken(admin, "maintainer");
    expectProblem(await call(maintainer, "GET", `${path}/hook`), 403, "forbidden");
    expectProblem(await call(maintainer, "PUT", path, { token: null }), 403, "forbidden");
    expect((await create(maintainer, `${path}/repository`, { hostRepoId: 41 })).hasHook).toBe(true);
  });
});
