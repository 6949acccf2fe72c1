import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { call, newAgent, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { completeJob, pollOnce, readBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import {
  attachRepository,
  deliver,
  eventHeaders,
  newConnection,
  readDeliveryNotes,
  type StoredConnection,
} from "../../support/hooks.ts";
import { hostTime, newPull, newPush, SHA } from "../../support/host-events.ts";

let admin: string;
let orgId: string;
let repository: Repository;
let pipeline: Pipeline;
let hook: StoredConnection;

beforeEach(async () => {
  ({ admin, orgId } = await newOrganization());
  repository = await newRepository(admin, 1);
  pipeline = await newPipeline(admin, repository.id);
  hook = await newConnection(orgId, "github");
  await attachRepository(repository.id, hook);
});

const push = (body: object, delivery?: string) => deliver(hook, eventHeaders("github", "push", delivery), body);
const pull = (body: object, delivery?: string) => deliver(hook, eventHeaders("github", "pull_request", delivery), body);

const openPulls = async () =>
  (await env.DB.prepare("SELECT * FROM open_pull WHERE repo_id = ? ORDER BY number").bind(repository.id).all()).results;

describe("POST /hook/{token}", () => {
  it("creates a build of a push, with its origin", async () => {
    const { status, body, text } = await push(newPush(SHA("a"), { before: SHA("b") }), "delivery-1");
    expect(status, text).toBe(202);
    expect(body).toEqual({ delivery: "delivery-1", builds: [expect.any(String)], ignored: null });
    const build = await readBuild(admin, body.builds[0]!);
    expect(build).toMatchObject({
      ...{ repoId: repository.id, pipelineId: pipeline.id, branch: "main", commitSha: SHA("a"), status: "queued" },
      ...{ event: "push", trigger: "api", subject: "Mend it", author: "Ann", pull: null, tag: null },
      createdBy: { kind: "connection", id: hook.connectionId, name: "our github" },
    });
    const [note] = await readDeliveryNotes(hook);
    expect(note).toMatchObject({
      ...{ id: "delivery-1", event: "push", ref: "refs/heads/main", sha: SHA("a"), builds: body.builds, ignored: null },
      repository: { hostRepoId: 1, fullName: "acme/app-1", defaultBranch: "main" },
    });
  });

  it("creates no build for a pipeline that requires Windows, and says why", async () => {
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { requires: { platform: "windows" } });
    const ignored = "There is no agent for Windows: write macos or linux";
    expect((await push(newPush(SHA("a")))).body).toMatchObject({ builds: [], ignored });
  });

  it("creates builds whose retries keep the same origin", async () => {
    const { body } = await pull(newPull("opened", SHA("a")));
    const id = body.builds[0]!;
    await call(admin, "POST", `/build/${id}/cancel`);
    const { status, body: retry } = await call(admin, "POST", `/build/${id}/retry`);
    expect(status).toBe(201);
    const first = await readBuild(admin, id);
    const { event, pull: told, branch, commitSha } = first;
    expect(event).toBe("pull");
    expect(retry).toMatchObject({ event, pull: told, branch, commitSha, trigger: "retry", retryOf: id });
    expect(retry.createdBy.kind).toBe("token");
  });

  it("says why a push creates no build", async () => {
    const { status, body } = await push(newPush(SHA("a"), { ref: "refs/heads/topic" }));
    expect(status).toBe(202);
    expect(body).toMatchObject({ builds: [], ignored: "no pipeline builds this branch" });
    expect((await readDeliveryNotes(hook))[0]).toMatchObject({ builds: [], ignored: "no pipeline builds this branch" });
  });

  it("creates one build for a push and its pull request, which is recorded until it is closed", async () => {
    const opened = await pull(newPull("opened", SHA("a")));
    expect(opened.body.builds).toHaveLength(1);
    expect(await readBuild(admin, opened.body.builds[0]!)).toMatchObject({
      ...{ event: "pull", branch: "topic", commitSha: SHA("a"), ref: "refs/heads/topic" },
      pull: { number: 7, base: "main", branch: "topic", title: "Add it", author: "ann" },
    });
    expect(await openPulls()).toMatchObject([
      {
        number: 7,
        ref: "refs/heads/topic",
        base: "main",
        head_sha: SHA("a"),
        updated_at: new Date(hostTime()).toISOString(),
      },
    ]);
    const pushed = await push(newPush(SHA("a"), { ref: "refs/heads/topic" }));
    expect(pushed.body.builds).toEqual(opened.body.builds);
    await pull(newPull("closed", SHA("a"), { updatedAt: hostTime(1800) }));
    const later = await push(newPush(SHA("b"), { ref: "refs/heads/topic", before: SHA("a") }));
    expect(later.body).toMatchObject({ builds: [], ignored: "no pipeline builds this branch" });
  });

  it("adopts a branch's build for a pull request that is opened later: fully, or as it is while it runs", async () => {
    const on = { push: true, pull: { paths: ["src/**"] } };
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { on });
    const agent = await newAgent(admin);
    const listed = async (query: string) =>
      (await call(admin, "GET", `/build?${query}`)).body.map(({ id }: Build) => id);
    const pushed = async (head: string, ref: string) => (await push(newPush(SHA(head), { ref }))).body.builds[0]!;
    const stored = () =>
      env.DB.prepare("SELECT id, event, pull_number FROM build_summary WHERE org_id = ?").bind(orgId).all();
    const first = await pushed("a", "refs/heads/topic");
    await poolStub(orgId).flush();
    expect((await pull(newPull("opened", SHA("a")))).body.builds).toEqual([first]);
    const job = (await pollOnce(agent)).body;
    expect(job).toMatchObject({ build: { id: first, event: "pull", pull: { number: 7 } }, paths: ["src/**"] });
    await completeJob(agent, job);
    const second = await pushed("b", "refs/heads/next");
    const running = (await pollOnce(agent)).body;
    await poolStub(orgId).flush();
    expect((await stored()).results).toHaveLength(2);
    expect(running.build).toMatchObject({ id: second, event: "push", pull: null });
    await call(agent.token, "POST", `/build/${second}/start`, undefined, { "X-Lease": String(running.lease) });
    await pull(newPull("opened", SHA("b"), { number: 8, branch: "next" }));
    expect(await readBuild(admin, second)).toMatchObject({ event: "push", pull: { number: 8, base: "main" } });
    expect(await listed("pull=8")).toEqual([second]);
    await completeJob(agent, running);
    await poolStub(orgId).flush();
    expect((await stored()).results).toEqual([
      { id: first, event: "pull", pull_number: 7 },
      { id: second, event: "push", pull_number: 8 },
    ]);
    expect([await listed("pull=7&event=pull"), await listed("pull=8")]).toEqual([[first], [second]]);
  });

  it("answers a ping, and shows it in the list of deliveries", async () => {
    const { status, body } = await deliver(hook, eventHeaders("github", "ping", "p"), {
      zen: "Keep it logically awesome.",
    });
    expect({ status, body }).toEqual({
      status: 202,
      body: { delivery: "p", builds: [], ignored: "the host tests the hook" },
    });
    expect(await readDeliveryNotes(hook)).toMatchObject([{ id: "p", event: "ping", repository: null }]);
  });

  it("creates no build for an unknown repository, and names it", async () => {
    const { status, body } = await push(newPush(SHA("a"), { id: 99, fullName: "acme/other" }));
    expect(status).toBe(202);
    expect(body).toMatchObject({ builds: [], ignored: "no active repository of this connection has this id" });
    expect(await readDeliveryNotes(hook)).toMatchObject([{ repository: { hostRepoId: 99, fullName: "acme/other" } }]);
    expect((await call(admin, "GET", "/build")).body).toEqual([]);
  });
});
