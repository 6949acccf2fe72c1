import { beforeEach, describe, expect, it } from "vitest";
import type { Agent } from "../../../src/protocol/agent.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import {
  call,
  create,
  expectProblem,
  newAgent,
  newOrganization,
  newPipeline,
  newRepository,
  newToken,
} from "../../support/api.ts";
import { readBuild, triggerBuild } from "../../support/build-setup.ts";
import { openCache } from "../../support/cache.ts";
import { attachRepository, deliver, eventHeaders, newConnection, type StoredConnection } from "../../support/hooks.ts";
import { hostTime, newMergeGroup, newPull, newPush, SHA } from "../../support/host-events.ts";
import { callWithLease, pollForJobs } from "../../support/jobs.ts";

type Registered = Agent & { token: string };

const FEATURES = "environment,jobs,files,untrusted";

let admin: string;
let orgId: string;
let repository: Repository;
let hook: StoredConnection;

beforeEach(async () => {
  ({ admin, orgId } = await newOrganization());
  repository = await newRepository(admin, 1);
  await newPipeline(admin, repository.id, { definition: "steps: [{ run: make }]" });
  hook = await newConnection(orgId, "github");
  await attachRepository(repository.id, hook);
});

const set = (change: object) => call(admin, "PUT", `/repository/${repository.id}`, change);
const pull = (body: object, id?: string) => deliver(hook, eventHeaders("github", "pull_request", id), body);
const push = (body: object) => deliver(hook, eventHeaders("github", "push"), body);
const group = (body: object) => deliver(hook, eventHeaders("github", "merge_group"), body);

const FORK = { forkOf: 99, author: "mallory", sender: "mallory" };
/** Creates a build of a fork's head. */
const forked = async (sha = SHA("1"), facts: object = {}): Promise<Build> => {
  const { body } = await pull(newPull("opened", sha, { ...FORK, ...facts }));
  expect(body.builds, body.ignored ?? "").toHaveLength(1);
  return readBuild(admin, body.builds[0]!);
};
const approve = (id: string, token = admin, body?: object) => call(token, "POST", `/build/${id}/approve`, body);
const poll = (agent: Registered, features = FEATURES) => pollForJobs(agent, features);
const untrustedAgent = (): Promise<Registered> => newAgent(admin, { labels: ["untrusted"] });

describe("a fork's pull request", () => {
  it("creates no build where forks are off, as in a new repository", async () => {
    expect(repository).toMatchObject({ forks: "off", untrustedAuthors: [] });
    expect((await pull(newPull("opened", SHA("1"), FORK))).body).toMatchObject({ builds: [], ignored: "fork, off" });
  });

  it("creates a build that no agent gets before a member approves its commit", async () => {
    await set({ forks: "approval" });
    const agent = await untrustedAgent();
    const build = await forked();
    expect(build).toMatchObject({ status: "queued", trust: "untrusted", event: "pull", ref: "refs/pull/7/head" });
    expect(build.pull).toMatchObject({ number: 7, branch: "topic", author: "mallory" });
    expect(build.waitsFor).toMatchObject([{ jobId: build.id, gate: { by: "member", decision: null } }]);
    expect((await call(admin, "GET", `/build/${build.id}/explain`)).body).toMatchObject({
      code: "gate",
      message: expect.stringContaining("waits for approval"),
    });
    expect((await poll(agent)).status).toBe(204);
    const member = await newToken(admin, "member");
    const approved = await approve(build.id, member, { comment: "looks fine", commitSha: SHA("1") });
    expect(approved.body).toMatchObject({
      waitsFor: [],
      approval: { decision: { approved: true, comment: "looks fine" } },
    });
    expect((await approve(build.id, member)).status).toBe(200);
    expectProblem(await call(member, "POST", `/build/${build.id}/reject`), 409, "conflict");
    expect((await poll(agent)).body.build).toMatchObject({ id: build.id, trust: "untrusted" });
  });

  it("requires approval by a member of its organization, for exactly this commit", async () => {
    await set({ forks: "approval" });
    const build = await forked();
    expectProblem(await approve(build.id, await newToken(admin, "viewer")), 403, "forbidden");
    expectProblem(await approve(build.id, (await newOrganization()).admin), 404, "not-found");
    expectProblem(await approve(build.id, admin, { commitSha: SHA("2") }), 409, "conflict");
    expectProblem(await approve(build.id, admin, { commitSha: "main" }), 422, "invalid");
    expect((await readBuild(admin, build.id)).waitsFor).toHaveLength(1);
  });

  it("waits again after each push, which ends the previous build", async () => {
    await set({ forks: "approval" });
    const agent = await untrustedAgent();
    const first = await forked();
    await approve(first.id);
    const moved = { ...FORK, before: SHA("1"), updatedAt: hostTime(60) };
    const second = (await pull(newPull("synchronize", SHA("2"), moved))).body.builds[0]!;
    expect(await readBuild(admin, first.id)).toMatchObject({ status: "canceled", reason: "superseded" });
    expectProblem(await approve(first.id), 409, "conflict");
    expect((await readBuild(admin, second)).waitsFor).toHaveLength(1);
    expect((await poll(agent)).status).toBe(204);
    const closed = { ...FORK, updatedAt: hostTime(120) };
    await pull(newPull("closed", SHA("2"), closed));
    expect((await readBuild(admin, second)).status).toBe("canceled");
  });

  it("creates no second build when its head is delivered again", async () => {
    await set({ forks: "approval" });
    const build = await forked();
    await approve(build.id);
    for (const action of ["opened", "synchronize", "labeled", "edited"]) {
      const again = await pull(newPull(action, SHA("1"), FORK), `again-${action}`);
      expect(again.body.builds.filter((id) => id !== build.id)).toEqual([]);
    }
    expect((await call(admin, "GET", "/build")).body).toHaveLength(1);
  });

  it("is rejected once, with the person's comment", async () => {
    await set({ forks: "approval" });
    const build = await forked();
    const rejected = await call(admin, "POST", `/build/${build.id}/reject`, { comment: "mines coins" });
    expect(rejected.body).toMatchObject({ status: "canceled", reason: "gate-closed" });
    expect(rejected.body.message).toContain("mines coins");
    expectProblem(await approve(build.id), 409, "conflict");
  });

  it.each([
    ["a member, who sent it", { association: "MEMBER" }, false],
    ["a stranger", { association: "CONTRIBUTOR" }, true],
    ["a member, with a push by another", { association: "MEMBER", sender: "eve" }, true],
    ["an unknown author", {}, true],
  ])("from %s waits as `forks: members` requires", async (_, facts, isHeld) => {
    await set({ forks: "members" });
    const build = await forked(SHA("1"), facts);
    expect(build.trust).toBe("untrusted");
    expect(build.waitsFor).toHaveLength(isHeld ? 1 : 0);
  });

  it("cannot impersonate a branch of the repository by its name", async () => {
    await set({ forks: "approval" });
    const main = (await push(newPush(SHA("a")))).body.builds[0]!;
    const build = await forked(SHA("1"), { branch: "main" });
    expect(build).toMatchObject({ ref: "refs/pull/7/head", trust: "untrusted" });
    expect(await readBuild(admin, main)).toMatchObject({ status: "queued", trust: "trusted" });
  });
});

describe("an untrusted build", () => {
  const secrets = async () => {
    const key = (key: string, more: object) =>
      create(admin, "/secrets/variables", {
        key,
        isSecret: true,
        scope: "repository",
        repoId: repository.id,
        ...more,
      });
    await key("TOKEN", { value: "the secret of the repository" });
    await key("CERTIFICATE", { value: "a file", isSecret: false, isFile: true });
    await key("PLAIN", { value: "for everybody", isSecret: false });
    await call(admin, "PUT", `/repository/${repository.id}/credential`, { kind: "token", value: "the clone secret" });
  };

  it("gets no secret, no file and no stored credential, unlike a trusted build", async () => {
    await secrets();
    await set({ forks: "approval" });
    const agent = await untrustedAgent();
    const build = await forked();
    await approve(build.id);
    const job = await poll(agent);
    expect(job.body).toMatchObject({ env: { PLAIN: "for everybody" }, secretKeys: [], build: { id: build.id } });
    expect(job.body.repository.credential ?? null).toBe(null);
    for (const text of ["TOKEN", "CERTIFICATE", "the secret", "the clone secret"]) expect(job.text).not.toContain(text);
    const main = (await push(newPush(SHA("a")))).body.builds[0];
    const trusted = await poll(await newAgent(admin));
    expect(trusted.body).toMatchObject({ build: { id: main }, env: { TOKEN: "the secret of the repository" } });
    expect(trusted.body.repository.credential).toMatchObject({ value: "the clone secret" });
  });

  it("runs only on agents with its label that support it, and these get no other build", async () => {
    await set({ forks: "members" });
    const build = await forked(SHA("1"), { association: "OWNER" });
    const plain = await newAgent(admin, { labels: ["big"] });
    const labelled = await untrustedAgent();
    expect((await poll(plain)).status).toBe(204);
    expect((await call(admin, "GET", `/build/${build.id}/explain`)).body.message).toContain("label untrusted");
    expect((await poll(labelled, "environment,jobs")).status).toBe(204);
    expect((await poll(labelled)).body.build.id).toBe(build.id);
    const { id: pipelineId } = (await call(admin, "GET", "/pipeline")).body[0];
    const other = await untrustedAgent();
    const trusted = await triggerBuild(admin, pipelineId);
    expect((await poll(other)).status).toBe(204);
    expect((await poll(plain)).body.build.id).toBe(trusted.id);
  });

  it("stays untrusted when it is retried, and waits again", async () => {
    await secrets();
    await set({ forks: "members" });
    const agent = await untrustedAgent();
    const build = await forked(SHA("1"), { association: "OWNER" });
    await call(admin, "POST", `/build/${build.id}/cancel`);
    const again = await call<Build>(admin, "POST", `/build/${build.id}/retry`);
    expect(again.body).toMatchObject({ trust: "untrusted", retryOf: build.id, ref: "refs/pull/7/head" });
    expect(again.body.waitsFor).toHaveLength(1);
    expect((await poll(agent)).status).toBe(204);
    expectProblem(await call(admin, "POST", `/build/${build.id}/retry`, { only: "failed" }), 409, "conflict");
    await approve(again.body.id);
    expect((await poll(agent)).body).toMatchObject({ build: { id: again.body.id }, secretKeys: [] });
  });

  it("cannot block a cache key of a trusted build on its branch, only of an untrusted one", async () => {
    await set({ untrustedAuthors: ["mallory"] });
    const open = async (agent: Registered, sha: string, sender: string, trust: string) => {
      await push(newPush(sha, { sender }));
      const { body: job } = await poll(agent);
      expect(job.build).toMatchObject({ trust, branch: "main" });
      await callWithLease(agent, job, "POST", "start");
      return openCache(agent, job, "v1/npm", new Uint8Array(1));
    };
    expect((await open(await untrustedAgent(), SHA("a"), "mallory", "untrusted")).status).toBe(201);
    const again = await open(await untrustedAgent(), SHA("b"), "mallory", "untrusted");
    expect(again.body.detail).toBe("Another job is saving this key.");
    expect((await open(await newAgent(admin), SHA("c"), "octocat", "trusted")).status).toBe(201);
  });

  it("cannot change its pipeline's triggers", async () => {
    await call(admin, "PUT", `/pipeline/${(await call(admin, "GET", "/pipeline")).body[0].id}`, { definition: null });
    await set({ untrustedAuthors: ["Renovate[bot]"] });
    const agent = await untrustedAgent();
    await push(newPush(SHA("a"), { sender: "renovate[bot]", files: [".millrace.yml"] }));
    const { body: job } = await poll(agent);
    expect(job).toMatchObject({ build: { trust: "untrusted", branch: "main" } });
    expect(job.file).toBe(undefined);
    await callWithLease(agent, job, "POST", "start");
    const sent = await callWithLease(agent, job, "PUT", "file", "on: { tag: true }\nsteps: [{ run: make }]\n");
    expect(sent.status).toBeGreaterThanOrEqual(400);
  });
});

describe("an environment's preview", () => {
  it("shows what an untrusted build gets", async () => {
    const { id } = (await call(admin, "GET", "/pipeline")).body[0];
    for (const [key, isSecret] of [
      ["TOKEN", true],
      ["PLAIN", false],
    ])
      await create(admin, "/secrets/variables", { key, isSecret, value: "v", scope: "pipeline", pipelineId: id });
    const keysOf = async (query: string) =>
      (await call<{ key: string }[]>(admin, "GET", `/pipeline/${id}/environment${query}`)).body.map(({ key }) => key);
    expect(await keysOf("")).toEqual(["PLAIN", "TOKEN"]);
    expect(await keysOf("?trust=untrusted")).toEqual(["PLAIN"]);
  });
});

describe("a listed author", () => {
  it.each([
    ["pushes", () => push(newPush(SHA("a"), { sender: "renovate[bot]" }))],
    [
      "opens a pull request",
      () => pull(newPull("opened", SHA("a"), { author: "Renovate[bot]", sender: "renovate[bot]" })),
    ],
    [
      "opened the pull request that another pushes to",
      () => pull(newPull("synchronize", SHA("a"), { author: "renovate[bot]" })),
    ],
  ])("%s: the build is untrusted, and needs no approval", async (_, send) => {
    await set({ untrustedAuthors: ["renovate[bot]"] });
    const { body } = await send();
    expect(await readBuild(admin, body.builds[0]!)).toMatchObject({ trust: "untrusted", waitsFor: [] });
  });

  it("is only an author on the list", async () => {
    await set({ untrustedAuthors: ["renovate[bot]"] });
    const { body } = await push(newPush(SHA("a"), { sender: "renovate" }));
    expect((await readBuild(admin, body.builds[0]!)).trust).toBe("trusted");
  });
});

describe("a merge group", () => {
  beforeEach(async () => {
    const { id } = (await call(admin, "GET", "/pipeline")).body[0];
    await call(admin, "PUT", `/pipeline/${id}`, { on: { "merge-group": true } });
  });

  it("is built where a pipeline wants it, as trusted, and ignores skip markers", async () => {
    const { body } = await group(newMergeGroup("checks_requested", SHA("a")));
    expect(await readBuild(admin, body.builds[0]!)).toMatchObject({
      ...{ event: "merge-group", trust: "trusted", commitSha: SHA("a") },
      ref: "refs/heads/gh-readonly-queue/main/pr-7-abc",
    });
    const pushed = await push(newPush(SHA("a"), { ref: "refs/heads/gh-readonly-queue/main/pr-7-abc" }));
    expect(pushed.body.builds).toEqual([]);
    expect((await group(newMergeGroup("checks_requested", SHA("a")))).body.builds).toEqual(body.builds);
  });

  it("ends its builds when the queue drops it", async () => {
    const { body } = await group(newMergeGroup("checks_requested", SHA("a")));
    await group(newMergeGroup("destroyed", SHA("a")));
    expect(await readBuild(admin, body.builds[0]!)).toMatchObject({
      status: "canceled",
      message: expect.stringContaining("merge queue"),
    });
  });

  it("creates no build without a queue's branch", async () => {
    expect((await group(newMergeGroup("checks_requested", SHA("a"), "refs/heads/main"))).body.builds).toEqual([]);
    expect((await group(newMergeGroup("renamed", SHA("a")))).body.builds).toEqual([]);
  });
});
