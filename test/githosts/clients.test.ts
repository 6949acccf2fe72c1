import { afterEach, describe, expect, it } from "vitest";
import { HostProblem } from "../../src/githosts/core/host-api.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";
import { HostKind } from "../../src/protocol/connection.ts";
import type { HostFault, HostSettings } from "../support/recording-host/host-state.ts";
import { listen, RecordingHost } from "../support/recording-host/recording-host.ts";

const TOKEN = "canary-token-of-the-host";
const KINDS = HostKind.options;
const HOOK = { url: "https://millrace.example/hook/mrh_acme_x", secret: "canary-secret-of-the-hook" };

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

const connected = async (kind: HostKind, settings: Partial<HostSettings> = {}, token = TOKEN) => {
  const repositories = [
    { id: 41, fullName: "acme/shop", defaultBranch: "trunk", isPrivate: true, formerNames: ["acme/store"] },
    { id: 42, fullName: "acme/tools" },
    { id: 43, fullName: "acme/docs" },
  ];
  const host = new RecordingHost({ kind, token: TOKEN, repositories, ...settings });
  const served = await listen(host);
  open.push(served);
  return { host, client: HOSTS[kind].client({ apiUrl: HOSTS[kind].apiUrl(served.url), token }) };
};

/** Returns the message of the error with which a call ends. */
const sentenceOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HostProblem);
  return (error as HostProblem).message;
};

const SHOP = { id: 41, fullName: "acme/shop" };

describe.each(KINDS)("a client of %s", (kind) => {
  it("sends only requests that the host's API describes, and finds existing records", async () => {
    const { host, client } = await connected(kind);
    expect(await client.account()).toEqual({ name: "builds", scopes: null });
    expect(await client.repositories(1, 2)).toEqual([
      { ...SHOP, defaultBranch: "trunk", isPrivate: true },
      { id: 42, fullName: "acme/tools", defaultBranch: "main", isPrivate: false },
    ]);
    expect(await client.repositories(2, 2)).toMatchObject([{ id: 43 }]);
    expect(await client.repositoryById(41)).toMatchObject(SHOP);
    expect(await client.repositoryByName("acme/shop")).toMatchObject(SHOP);
    const id = await client.createHook(SHOP, HOOK);
    expect(host.place.hooks).toMatchObject([{ repositoryId: 41, ...HOOK }]);
    expect(await client.hooks(SHOP)).toEqual([{ id, url: HOOK.url, trouble: null }]);
    const next = { url: `${HOOK.url}2`, secret: "another" };
    await client.updateHook(SHOP, id, next);
    expect(host.place.hooks).toMatchObject([next]);
    await client.deleteHook(SHOP, id);
    expect(host.place.hooks).toEqual([]);
    expect(host.requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(host.requests.length).toBeGreaterThanOrEqual(9);
  });

  it("subscribes to pushes, tags and pull requests", async () => {
    const { host, client } = await connected(kind);
    await client.createHook(SHOP, HOOK);
    const events = { github: ["push", "pull_request"], gitlab: ["push_events", "tag_push_events"], gitea: ["push"] };
    expect(host.place.hooks[0]?.events).toEqual(expect.arrayContaining(events[kind]));
  });

  it("sends the token in one header and nowhere else", async () => {
    const { host, client } = await connected(kind);
    await client.account();
    await client.createHook(SHOP, HOOK);
    for (const { headers, ...rest } of host.requests) {
      expect(Object.values(headers).filter((value) => value.includes(TOKEN))).toHaveLength(1);
      expect(JSON.stringify(rest)).not.toContain(TOKEN);
    }
  });

  it("reports problems in sentences that quote nothing", async () => {
    const isLimited = /limits the rate of requests/;
    const faults: [HostFault["answer"], RegExp, Partial<HostFault>?][] = [
      [401, /does not accept the token/],
      [403, /lacks a permission on .*: give it/],
      [404, /cannot find it, or hides it/],
      [422, /rejects the request \(422\)/],
      [429, isLimited],
      [403, isLimited, { headers: { "Retry-After": "60", "X-RateLimit-Remaining": "4123" } }],
      [403, isLimited, { headers: { "X-RateLimit-Remaining": "0" } }],
      [403, isLimited, { body: '{"message": "You have exceeded a secondary rate limit. canary"}' }],
      [500, /an internal error \(500\)/],
      ["html", /is not the API of/],
      ["large", /is not the API of/],
      ["elsewhere", /redirects to another host/],
      ["loop", /redirects too often/],
    ];
    for (const [answer, sentence, more] of faults) {
      const body = `<b>${TOKEN} ${HOOK.secret}</b>`;
      const { client } = await connected(kind, { faults: [{ on: "", answer, body, ...more }] });
      const calls = [() => client.account(), () => client.createHook(SHOP, HOOK), () => client.repositories(1, 2)];
      for (const call of calls) {
        const said = await sentenceOf(call());
        expect(said, `${answer}`).toMatch(sentence);
        expect(said).not.toContain("canary");
      }
    }
  });

  it("is rejected with another token, and without the permission to manage hooks", async () => {
    const { client } = await connected(kind, {}, "another");
    expect(await sentenceOf(client.account())).toMatch(/does not accept the token/);
    const { client: lesser } = await connected(kind, { mayManageHooks: false });
    const right = { github: "admin:repo_hook", gitlab: "Maintainer", gitea: "write:repository" };
    expect(await sentenceOf(lesser.createHook(SHOP, HOOK))).toContain(right[kind]);
  });
});

it("a GitHub client says which classic scopes a token lacks", async () => {
  const missing = async (scopes: string[] | null) => {
    const { client } = await connected("github", { scopes });
    return client.missing((await client.account()).scopes);
  };
  expect(await missing(["repo"])).toEqual([]);
  expect(await missing(["admin:repo_hook", "repo:status"])).toEqual([]);
  expect(await missing(null)).toEqual([]);
  expect(await missing(["repo:status"])).toEqual([expect.stringContaining("manage hooks")]);
  expect(await missing(["read:org"])).toHaveLength(2);
});

it("a GitLab client says when a token lacks the scope api", async () => {
  const { client } = await connected("gitlab", { scopes: ["read_api"] });
  const { scopes } = await client.account();
  expect(scopes).toEqual(["read_api"]);
  expect(client.missing(scopes)).toEqual([expect.stringContaining("the scope api")]);
  expect(client.missing(["api"])).toEqual([]);
});

it("the GitHub and Gitea clients follow a repository to its new name", async () => {
  for (const kind of ["github", "gitea"] as const) {
    const { client } = await connected(kind);
    expect(await client.repositoryByName("acme/store")).toMatchObject(SHOP);
  }
});

it("a request that the API does not describe fails the test", async () => {
  for (const kind of KINDS) {
    const { host } = await connected(kind);
    const api = HOSTS[kind].apiUrl("https://host.example");
    const bad = async (method: string, path: string, body?: object) => {
      const init = { method, body: body ? JSON.stringify(body) : null };
      return (await host.handle(new Request(api + path, init))).status;
    };
    const hooks = kind === "gitlab" ? "/projects/41/hooks" : "/repos/acme/shop/hooks";
    expect(await bad("POST", hooks, { events: "push" }), kind).toBe(400);
    expect(await bad("POST", hooks, { url: "https://x.example", config: { url: "x" }, surplus: 1 }), kind).toBe(400);
    expect(await bad("GET", "/user?surplus=1"), kind).toBe(400);
    expect(await bad("PUT", "/nothing"), kind).toBe(400);
    expect(host.requests.every(({ problems }) => problems.length > 0)).toBe(true);
  }
});
