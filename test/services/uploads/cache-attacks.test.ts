import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { call, expectProblem, newAgent, newPipeline, newToken } from "../../support/api.ts";
import { packed, sha256 } from "../../support/artifact-files.ts";
import { openArtifact } from "../../support/artifacts.ts";
import { newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import {
  endCache,
  findCache,
  findEntry,
  openCache,
  renewCache,
  saveCache,
  sendCachePart,
} from "../../support/cache.ts";
import { callWithLease, startNextJob } from "../../support/jobs.ts";
import { newStartedBuild } from "../../support/new-builds.ts";

const BYTES = new TextEncoder().encode("good bytes");
const EVIL = new TextEncoder().encode("evil bytes");
const KEY = "v1/npm/linux-x64/0/lock";

type Setup = Awaited<ReturnType<typeof newBuildSetup>>;

/** Runs one build of a branch, and calls `act` during it. */
const inBuild = async <T>(
  { admin, agent, pipeline }: Setup,
  branch: string,
  act: (job: Awaited<ReturnType<typeof startNextJob>>) => Promise<T>,
  pipelineId = pipeline.id,
): Promise<T> => {
  await triggerBuild(admin, pipelineId, { branch });
  const job = await startNextJob(agent);
  const done = await act(job);
  expect((await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 })).status).toBe(200);
  return done;
};

const objectsOf = async (orgId: string) => (await env.ARCHIVE.list({ prefix: `cache/${orgId}/` })).objects;

describe("an attack on the cache", () => {
  it("cannot bring a branch's entry into a build of the default branch", async () => {
    const setup = await newBuildSetup();
    const { agent } = setup;
    await inBuild(setup, "feature", (job) => saveCache(agent, job, KEY, EVIL));
    await inBuild(setup, "main", async (job) => {
      expect(await findEntry(agent, job, KEY, ["v1/"])).toBeNull();
      await saveCache(agent, job, KEY, BYTES);
    });
    // The other direction is the purpose of a cache.
    const other = await inBuild(setup, "other", (job) => findEntry(agent, job, KEY));
    expect(other).toMatchObject({ sha256: sha256(BYTES) });
    const own = await inBuild(setup, "feature", (job) => findEntry(agent, job, KEY));
    expect(own).toMatchObject({ sha256: sha256(EVIL) });
    const tag = await inBuild(setup, "refs/tags/feature", (job) => findEntry(agent, job, KEY));
    expect(tag).toMatchObject({ sha256: sha256(BYTES) });
  });

  it("cannot poison one pipeline from another on the same branch", async () => {
    const setup = await newBuildSetup();
    const { agent, admin, repository } = setup;
    const release = await newPipeline(admin, repository.id, { name: "release" });
    await inBuild(setup, "main", (job) => saveCache(agent, job, KEY, EVIL));
    expect(await inBuild(setup, "main", (job) => findEntry(agent, job, KEY, ["v1/"]), release.id)).toBeNull();
    expect(await inBuild(setup, "main", (job) => findEntry(agent, job, KEY))).not.toBeNull();
  });

  it("cannot block a key of another branch or pipeline with an unfinished save, only of its own", async () => {
    const setup = await newBuildSetup();
    const { agent, admin, repository } = setup;
    const release = await newPipeline(admin, repository.id, { name: "release" });
    const begin = (branch: string, pipelineId?: string) =>
      inBuild(setup, branch, (job) => openCache(agent, job, KEY, BYTES), pipelineId);
    expect((await begin("feature")).status).toBe(201);
    expectProblem(await begin("feature"), 409, "conflict");
    expect((await begin("main")).status).toBe(201);
    expect((await begin("feature", release.id)).status).toBe(201);
  });

  it("cannot use a grant after the lease", async () => {
    const setup = await newStartedBuild();
    const { agent, job, orgId } = setup;
    const opened = await openCache(agent, job, KEY, EVIL);
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    const part = await sendCachePart(agent, job, opened.body, EVIL);
    expect(part.status).toBe(200);
    expectProblem(await endCache(agent, job, opened.body, [part.body.etag]), 409, "lease-lost");
    await triggerBuild(setup.admin, setup.pipeline.id);
    const next = await startNextJob(agent);
    expectProblem(await endCache(agent, job, opened.body, [part.body.etag], next.lease), 403, "forbidden");
    expectProblem(await endCache(agent, next, opened.body, [part.body.etag]), 403, "forbidden");
    expect(await findEntry(agent, next, KEY)).toBeNull();
    expect(await objectsOf(orgId)).toEqual([]);
    expectProblem(await openCache(agent, job, KEY, EVIL), 409, "lease-lost");
    expectProblem(await findCache(agent, job, [KEY]), 409, "lease-lost");
  });

  it("cannot change an entry, by the same key or by a save that began earlier", async () => {
    const { agent, job } = await newStartedBuild();
    const early = await openCache(agent, job, KEY, EVIL);
    await saveCache(agent, job, KEY, BYTES);
    expectProblem(await openCache(agent, job, KEY, EVIL), 409, "conflict");
    const part = await sendCachePart(agent, job, early.body, EVIL);
    expectProblem(await endCache(agent, job, early.body, [part.body.etag]), 409, "conflict");
    expect(await findEntry(agent, job, KEY)).toMatchObject({ sha256: sha256(BYTES) });
  });

  it("by two saves at once stores one of them, whole", async () => {
    const { agent, job } = await newStartedBuild();
    const both = await Promise.all([BYTES, EVIL].map((bytes) => openCache(agent, job, KEY, bytes)));
    const parts = await Promise.all(
      [BYTES, EVIL].map((bytes, index) => sendCachePart(agent, job, both[index]!.body, bytes)),
    );
    const ends = await Promise.all(
      both.map(({ body }, index) => endCache(agent, job, body, [parts[index]!.body.etag])),
    );
    expect(ends.map(({ status }) => status).sort()).toEqual([204, 409]);
    const winner = ends[0]?.status === 204 ? BYTES : EVIL;
    expect(await findEntry(agent, job, KEY)).toMatchObject({ sha256: sha256(winner) });
  });

  it("cannot reach another organization's entries", async () => {
    const good = await newStartedBuild();
    await saveCache(good.agent, good.job, KEY, BYTES);
    const entry = await findEntry(good.agent, good.job, KEY);
    const late = await openCache(good.agent, good.job, "v1/late", BYTES);
    const evil = await newStartedBuild();
    expect(await findEntry(evil.agent, evil.job, KEY, ["v1/"])).toBeNull();
    expectProblem(await call(evil.agent.token, "GET", `/cache/${entry?.grant}/content`), 403, "forbidden");
    expectProblem(await sendCachePart(evil.agent, good.job, late.body, BYTES), 403, "forbidden");
    expectProblem(await findCache(evil.agent, good.job, [KEY]), 404, "not-found");
    const path = `/repository/${good.job.build.repoId}/cache`;
    expectProblem(await call(evil.admin, "GET", path), 404, "not-found");
    expectProblem(await call(evil.admin, "DELETE", path), 404, "not-found");
    expect(await findEntry(good.agent, good.job, KEY)).not.toBeNull();
  });

  it("cannot use another agent's grant, a person's token or another kind of grant", async () => {
    const { admin, agent, job, id } = await newStartedBuild();
    await saveCache(agent, job, KEY, BYTES);
    const entry = await findEntry(agent, job, KEY);
    const late = await openCache(agent, job, "v1/late", BYTES);
    const stranger = await newAgent(admin);
    expectProblem(await findCache(stranger, job, [KEY]), 409, "lease-lost");
    expectProblem(await openCache(stranger, job, "v1/x", EVIL), 409, "lease-lost");
    expectProblem(await sendCachePart(stranger, job, late.body, BYTES), 403, "forbidden");
    expectProblem(await call(stranger.token, "GET", `/cache/${entry?.grant}/content`), 403, "forbidden");
    for (const role of ["viewer", "member", "admin"] as const)
      expectProblem(await call(await newToken(admin, role), "GET", `/cache/${entry?.grant}/content`), 403, "forbidden");
    const artifact = await openArtifact(agent, job, "app", { a: "good bytes" });
    const { list, bytes } = packed({ a: "good bytes" });
    expect(list).toHaveLength(1);
    for (const grant of [artifact.body.grant, entry?.grant ?? "", `${late.body.grant}x`, "mrx_e30.x", ""]) {
      const sent = await sendCachePart(agent, job, { ...late.body, grant }, bytes);
      expect([403, 422], sent.text).toContain(sent.status);
    }
    expectProblem(await call(agent.token, "GET", `/cache/${late.body.grant}/content`), 403, "forbidden");
    expectProblem(
      await call(agent.token, "POST", `/job/${id}/cache/find`, { entries: [], codecs: [] }),
      422,
      "invalid",
    );
  });

  it("continues only the caller's own save, with the announced bytes, under the same lease", async () => {
    const setup = await newStartedBuild();
    const { agent, job } = setup;
    const { grant } = (await openCache(agent, job, KEY, BYTES)).body;
    const another = await newStartedBuild();
    const foreign = (await openCache(another.agent, another.job, KEY, BYTES)).body.grant;
    const read = (await findCache(agent, job, [KEY])).body;
    expect(read.entries).toEqual([null]);
    for (const wrong of [foreign, `${grant}x`, `${grant.slice(0, 20)}!${grant.slice(21)}`, "mrx_e30.x"])
      expectProblem(await renewCache(agent, job, KEY, BYTES, wrong), 403, "forbidden");
    expectProblem(await renewCache(agent, job, KEY, EVIL, grant), 403, "forbidden");
    expectProblem(await renewCache(agent, job, `${KEY}2`, BYTES, grant), 403, "forbidden");
    expectProblem(await renewCache(another.agent, another.job, KEY, BYTES, grant), 403, "forbidden");
    expectProblem(await renewCache(another.agent, job, KEY, BYTES, grant), 404, "not-found");
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    expectProblem(await renewCache(agent, job, KEY, BYTES, grant), 409, "lease-lost");
    await triggerBuild(setup.admin, setup.pipeline.id);
    const next = await startNextJob(agent);
    expectProblem(await renewCache(agent, next, KEY, BYTES, grant), 403, "forbidden");
  });

  it("cannot lie about bytes, sum or scope", async () => {
    const { agent, job, orgId } = await newStartedBuild();
    const shorter = await openCache(agent, job, KEY, BYTES, { bytes: BYTES.length + 1 });
    expectProblem(await sendCachePart(agent, job, shorter.body, BYTES), 400, "malformed-body");
    const wrong = await openCache(agent, job, KEY, BYTES, { sha256: sha256(EVIL) });
    const part = await sendCachePart(agent, job, wrong.body, BYTES);
    expectProblem(await endCache(agent, job, wrong.body, [part.body.etag]), 422, "invalid");
    const unsent = await openCache(agent, job, KEY, BYTES);
    expectProblem(await endCache(agent, job, unsent.body, ["x"]), 409, "conflict");
    const damaged = await sendCachePart(agent, job, unsent.body, BYTES, { "X-Content-SHA256": sha256(EVIL) });
    expect(damaged.status).toBe(409);
    expect(await objectsOf(orgId)).toEqual([]);
    const more = { scope: "main", branch: "main", pipelineId: orgId };
    const told = await openCache(agent, job, KEY, BYTES, more as object);
    expect(told.status).toBe(201);
  });

  it.each([
    [{ key: "a b" }, "/key"],
    [{ key: "a\nb" }, "/key"],
    [{ key: "clé" }, "/key"],
    [{ key: "" }, "/key"],
    [{ key: "a".repeat(LIMITS.cacheKeyCharacters + 1) }, "/key"],
    [{ bytes: LIMITS.cacheEntryBytes + 1 }, "/bytes"],
    [{ bytes: 0 }, "/bytes"],
    [{ sha256: "x" }, "/sha256"],
    [{ codec: "xz" as "gzip" }, "/codec"],
  ])("is rejected with the wrong field: %o", async (more, pointer) => {
    const { agent, job } = await newStartedBuild();
    const answer = await openCache(agent, job, KEY, BYTES, more);
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors[0].pointer).toBe(pointer);
  });
});
