import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { putEntry, repositoryPath, type StoredEntry } from "../../../src/archive/cache.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { call, expectProblem, newAgent, newToken } from "../../support/api.ts";
import { sha256 } from "../../support/artifact-files.ts";
import { grantClaims } from "../../support/artifacts.ts";
import { type BuildSetup, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import {
  endCache,
  findCache,
  findEntry,
  openCache,
  renewCache,
  saveCache,
  sendCachePart,
} from "../../support/cache.ts";
import { callWithLease, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { newStartedBuild } from "../../support/new-builds.ts";

const BYTES = new TextEncoder().encode("a tar that was compressed");
const KEY = "v1/npm/linux-x64//lock";

const finish = (agent: { id: string; token: string }, job: Parameters<typeof callWithLease>[1]) =>
  callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });

/** Starts another build of the same pipeline. */
const nextBuild = async ({ admin, agent, pipeline }: BuildSetup, body: object = {}) => {
  await triggerBuild(admin, pipeline.id, body);
  return startNextJob(agent);
};

/** Creates a build with `count` jobs, each of which runs on its own agent. */
const runningTogether = async (count: number) => {
  const setup = await newBuildSetup();
  await triggerBuild(setup.admin, setup.pipeline.id);
  const rows = Array.from({ length: count }, (_, n) => `  j${n}: { steps: [{ run: x }] }\n`);
  await planNextBuild(setup.agent, `jobs:\n${rows.join("")}`);
  const others = rows.slice(1).map(() => newAgent(setup.admin));
  const agents = [setup.agent, ...(await Promise.all(others))];
  const pairs = agents.map(async (agent) => ({ agent, job: await startNextJob(agent) }));
  return { ...setup, pairs: await Promise.all(pairs) };
};

const IN_USE = "Another job is saving this key.";

type Pair = Awaited<ReturnType<typeof runningTogether>>["pairs"][number];

const objectsOf = async (orgId: string, kind: string) =>
  (await env.ARCHIVE.list({ prefix: `${kind}/${orgId}/` })).objects;

describe("a repository's cache", () => {
  it("restores in a branch's next build what the previous one saved", async () => {
    const setup = await newStartedBuild();
    const { agent, job } = setup;
    expect(await findEntry(agent, job, KEY)).toBeNull();
    await saveCache(agent, job, KEY, BYTES);
    await finish(agent, job);
    const next = await nextBuild(setup);
    const found = await findEntry(agent, next, KEY);
    expect(found).toMatchObject({ key: KEY, bytes: BYTES.length, codec: "gzip" });
    const headers = { Authorization: `Bearer ${agent.token}` };
    const answer = await exports.default.fetch(
      new Request(`https://millrace.test/cache/${found?.grant}/content`, { headers }),
    );
    const bytes = new Uint8Array(await answer.arrayBuffer());
    expect(bytes).toEqual(BYTES);
  });

  it("is granted with what every supported release reads", async () => {
    const { agent, job } = await newStartedBuild();
    const { grant } = await saveCache(agent, job, KEY, BYTES);
    const large = await openCache(agent, job, "large", BYTES, { bytes: LIMITS.artifactPartBytes + 1 });
    const read = ["bytes", "id", "jobId", "orgId", "path", "tokenHash", "until"];
    const written = [...read, "codec", "fence", "key", "sha256"].sort();
    expect(grantClaims((await findEntry(agent, job, KEY))!.grant)).toEqual(read);
    expect(grantClaims(grant)).toEqual(written);
    expect(grantClaims(large.body.grant)).toEqual([...written, "uploadId"]);
  });

  it("is saved under several grants, if the save takes longer than one lasts", async () => {
    const { agent, job } = await newStartedBuild();
    const opened = await openCache(agent, job, KEY, BYTES);
    const beat = { "X-Lease": String(job.lease) };
    try {
      for (const begun = Date.now(); Date.now() < begun + 61 * 60_000; vi.setSystemTime(Date.now() + 45_000))
        expect((await call(agent.token, "POST", `/buildagent/${agent.id}/heartbeat`, {}, beat)).status).toBe(200);
      expectProblem(await sendCachePart(agent, job, opened.body, BYTES), 403, "forbidden");
      const renewed = await renewCache(agent, job, KEY, BYTES, opened.body.grant);
      expect(renewed, renewed.text).toMatchObject({ status: 201, body: { cacheId: opened.body.cacheId, parts: 1 } });
      const part = await sendCachePart(agent, job, renewed.body, BYTES);
      expect((await endCache(agent, job, renewed.body, [part.body.etag])).status).toBe(204);
      expect(await findEntry(agent, job, KEY)).toMatchObject({ bytes: BYTES.length });
    } finally {
      vi.useRealTimers();
    }
  });

  it("is uploaded once, where each job of a matrix saves the same", async () => {
    const { orgId, pairs } = await runningTogether(32);
    const saving = pairs.map(async ({ agent, job }) => {
      const opened = await openCache(agent, job, KEY, BYTES);
      // Earlier agents treat a 409 of any other kind as a lost lease.
      if (opened.status !== 201) return expectProblem(opened, 409, "conflict");
      const part = await sendCachePart(agent, job, opened.body, BYTES);
      expect((await endCache(agent, job, opened.body, [part.body.etag])).status).toBe(204);
    });
    await Promise.all(saving);
    expect((await objectsOf(orgId, "cachebytes")).map(({ size }) => size)).toEqual([BYTES.length]);
    for (const { agent, job } of pairs.slice(0, 2))
      expect(await findEntry(agent, job, KEY)).toMatchObject({ sha256: sha256(BYTES) });
    expect(await objectsOf(orgId, "cachereserved")).toEqual([]);
  });

  it("may be saved by another job as soon as one job's save has failed", async () => {
    const { orgId, pairs, repository } = await runningTogether(2);
    const [first, second] = pairs as [Pair, Pair];
    const open = ({ agent, job }: Pair, sum = sha256(BYTES)) => openCache(agent, job, KEY, BYTES, { sha256: sum });
    const save = async (pair: Pair, sum?: string) => {
      const { body } = await open(pair, sum);
      const part = await sendCachePart(pair.agent, pair.job, body, BYTES);
      expect((await open(pair === first ? second : first)).body.detail).toBe(IN_USE);
      return endCache(pair.agent, pair.job, body, [part.body.etag]);
    };
    expectProblem(await save(first, "0".repeat(64)), 422, "invalid");
    const full = { key: "full", id: "full", bytes: LIMITS.cacheBytes, isOfDefaultBranch: true } as StoredEntry;
    await putEntry(env.ARCHIVE, `${repositoryPath(orgId, repository.id)}other/scope/full`, full);
    expectProblem(await save(second), 429, "limit-reached");
    expect((await open(first)).status).toBe(201);
  });

  it("finds a fallback's newest entry, but prefers an exact key", async () => {
    const setup = await newStartedBuild();
    const { agent, job } = setup;
    await saveCache(agent, job, "v1/npm/a-1", BYTES);
    await saveCache(agent, job, "v1/npm/b-1", BYTES);
    expect(await findEntry(agent, job, "v1/npm/a-2", ["v1/npm/a-"])).toMatchObject({ key: "v1/npm/a-1" });
    expect(await findEntry(agent, job, "v1/npm/a-2", ["v1/npm/none", "v1/npm/"])).toMatchObject({ key: "v1/npm/b-1" });
    expect(await findEntry(agent, job, "v1/npm/a-1", ["v1/npm/b-"])).toMatchObject({ key: "v1/npm/a-1" });
    expect(await findEntry(agent, job, "v1/npm/a-2")).toBeNull();
  });

  it("finds no entry whose codec the agent does not read", async () => {
    const { agent, job } = await newStartedBuild();
    await saveCache(agent, job, KEY, BYTES);
    const { body } = await findCache(agent, job, [KEY], [], ["zstd"]);
    expect(body.entries).toEqual([null]);
  });

  it("lists its entries for people, and deletes them for good", async () => {
    const setup = await newStartedBuild();
    const { admin, agent, job, repo } = { ...setup, repo: setup.job.build.repoId };
    await saveCache(agent, job, KEY, BYTES);
    // An entry does not exist until it is saved.
    expect((await openCache(agent, job, "v1/begun", BYTES)).status).toBe(201);
    const listed = await call(await newToken(admin, "viewer"), "GET", `/repository/${repo}/cache`);
    expect(listed.body).toMatchObject([{ key: KEY, branch: job.build.branch, bytes: BYTES.length }]);
    const before = (await findCache(agent, job, [])).body.saves;
    const late = await openCache(agent, job, "v1/late", BYTES);
    const part = await sendCachePart(agent, job, late.body, BYTES);
    expectProblem(await call(await newToken(admin, "viewer"), "DELETE", `/repository/${repo}/cache`), 403, "forbidden");
    expect((await call(await newToken(admin, "member"), "DELETE", `/repository/${repo}/cache`)).status).toBe(204);
    expect(await findEntry(agent, job, KEY, ["v1"])).toBeNull();
    expect((await call(admin, "GET", `/repository/${repo}/cache`)).body).toEqual([]);
    expect(await objectsOf(setup.orgId, "cachereserved")).toEqual([]);
    expect((await findCache(agent, job, [])).body.saves).not.toBe(before);
    expectProblem(await endCache(agent, job, late.body, [part.body.etag]), 409, "conflict");
    const audit = await call(admin, "GET", "/audit?action=cache.delete");
    expect(audit.body).toMatchObject([{ subject: repo }]);
  });

  it("is deleted with its repository", async () => {
    const setup = await newStartedBuild();
    const { admin, agent, job } = setup;
    await saveCache(agent, job, KEY, BYTES);
    await finish(agent, job);
    const keysOf = async () => {
      const pages = ["cache/", "cachebytes/"].map((kind) => env.ARCHIVE.list({ prefix: `${kind}${setup.orgId}/` }));
      return (await Promise.all(pages)).flatMap(({ objects }) => objects);
    };
    expect(await keysOf()).toHaveLength(2);
    expect((await call(admin, "DELETE", `/repository/${job.build.repoId}`)).status).toBe(204);
    await expect.poll(keysOf).toEqual([]);
  });
});
