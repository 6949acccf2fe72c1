import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bytesKey, scopePath } from "../../../src/archive/cache.ts";
import type { ServiceMetrics } from "../../../src/protocol/service-metrics.ts";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";
import { type Answer, call, expectProblem } from "../../support/api.ts";
import { packed, sha256 } from "../../support/artifact-files.ts";
import { openArtifact, sendPart } from "../../support/artifacts.ts";
import { triggerBuild } from "../../support/build-setup.ts";
import { openCache, renewCache, saveCache } from "../../support/cache.ts";
import { callWithLease, startNextJob } from "../../support/jobs.ts";
import { newBuildWithArtifact, newStartedBuild } from "../../support/new-builds.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const DAY_MS = 86_400_000;
const FILES = { "a.txt": "one" };
const BYTES = new TextEncoder().encode("what npm installed");

afterEach(() => vi.useRealTimers());

const setLimit = async (orgId: string, storedBytes: number | null): Promise<void> => {
  const answer = await call(env.OPERATOR_TOKEN ?? "", "PATCH", `/organization/${orgId}`, { limits: { storedBytes } });
  expect(answer.status, answer.text).toBe(200);
};

type Setup = Awaited<ReturnType<typeof newStartedBuild>>;

/** Starts a job in an organization that may store `storedBytes`. */
const runningWith = async (storedBytes: number): Promise<Setup> => {
  const setup = await newStartedBuild();
  await setLimit(setup.orgId, storedBytes);
  return setup;
};

let names = 0;
const begin = ({ agent, job }: Setup, bytes: number) => openArtifact(agent, job, `a${names++}`, FILES, { bytes });
const save = ({ agent, job }: Setup, bytes: number) => openCache(agent, job, `v1/${names++}`, BYTES, { bytes });
const statuses = (answers: Answer<unknown>[]) => answers.map(({ status }) => status).sort();
const several = (count: number, act: () => Promise<Answer<unknown>>) => Promise.all(Array.from({ length: count }, act));

describe("an organization at its limit of stored bytes", () => {
  it("can begin no more bytes in any number of concurrent uploads, and affects no other organization", async () => {
    const [setup, other] = [await runningWith(10 * MIB), await newStartedBuild()];
    expect(statuses(await several(12, () => begin(other, MIB)))).toEqual(Array(12).fill(201));
    expect(statuses(await several(12, () => begin(setup, MIB)))).toEqual([...Array(10).fill(201), 429, 429]);
    const refused = await begin(setup, 1);
    expectProblem(refused, 429, "limit-reached");
    expect(refused.body.detail).toMatch(
      /^This organization stores 0\.0 GiB of artifacts and caches, and its limit is 0\.0 GiB: delete builds/,
    );
    expectProblem(await save(setup, 1), 429, "limit-reached");
    expect((await begin(setup, 0)).status).toBe(201);
    await setLimit(setup.orgId, 11 * MIB);
    expect(statuses(await several(2, () => begin(setup, MIB)))).toEqual([201, 429]);
  });

  it("continues the uploads that it has begun", async () => {
    const setup = await runningWith(MIB);
    const { agent, job } = setup;
    const open = () => openArtifact(agent, job, "app", FILES, { bytes: MIB });
    const opened = await open();
    await setLimit(setup.orgId, 0);
    expect((await open()).body.artifactId).toBe(opened.body.artifactId);
    expectProblem(await openArtifact(agent, job, "app", FILES, { bytes: MIB - 1 }), 429, "limit-reached");
  });

  it("counts cache entries from their beginning, and uploads that a lost lease began", async () => {
    const setup = await runningWith(12 * GIB);
    const { agent, job } = setup;
    expect(statuses(await several(3, () => save(setup, 5 * GIB)))).toEqual([201, 201, 429]);
    const opened = await openCache(agent, job, "v1/small", BYTES);
    expect((await renewCache(agent, job, "v1/small", BYTES, opened.body.grant)).status).toBe(201);
    await setLimit(setup.orgId, 10 * GIB + 2 * BYTES.length);
    expect(statuses([await begin(setup, BYTES.length), await begin(setup, 1)])).toEqual([201, 429]);
    await callWithLease(agent, job, "POST", "release", { reason: "the machine restarts", interrupted: true });
    const again = await startNextJob(agent);
    expectProblem(await begin({ ...setup, job: again }, 1), 429, "limit-reached");
  });

  it("continues to build without its cache", async () => {
    const setup = await runningWith(0);
    expectProblem(await save(setup, 1), 429, "limit-reached");
    const ended = await callWithLease(setup.agent, setup.job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    expect(ended.status).toBe(200);
  });
});

describe("an organization's stored bytes", () => {
  /** Begins an upload of `bytes` in another build's job. @returns the answer's status */
  const beginInNext = async (
    setup: Awaited<ReturnType<typeof newBuildWithArtifact>>,
    bytes: number,
  ): Promise<number> => {
    await triggerBuild(setup.admin, setup.pipeline.id);
    const job = await startNextJob(setup.agent);
    const { status } = await begin({ ...setup, job }, bytes);
    await callWithLease(setup.agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    return status;
  };
  const leftFull = async () => {
    const setup = await newBuildWithArtifact({ "a.txt": "x".repeat(1000) });
    await setLimit(setup.orgId, 1000);
    expect(await beginInNext(setup, 1)).toBe(429);
    return setup;
  };
  const wait = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

  it("decrease when a build is deleted, and when an artifact expires", async () => {
    const setup = await leftFull();
    wait(61 * 60_000);
    expect((await call(setup.admin, "DELETE", `/build/${setup.id}`)).status).toBe(204);
    expect([await beginInNext(setup, 1000), await beginInNext(setup, 1)]).toEqual([201, 429]);
    wait(31 * DAY_MS);
    expect([await beginInNext(setup, 1000), await beginInNext(setup, 1)]).toEqual([201, 429]);
  });

  it("decrease once for an artifact that two people delete at once", async () => {
    const setup = await leftFull();
    await setLimit(setup.orgId, 1500);
    expect(await beginInNext(setup, 500)).toBe(201);
    wait(25 * 60 * 60_000);
    const remove = () => call(setup.admin, "DELETE", `/job/${setup.id}/artifact/report`);
    expect(statuses(await several(2, remove))).toContain(204);
    expect([await beginInNext(setup, 1000), await beginInNext(setup, 1)]).toEqual([201, 429]);
  });

  it("do not decrease while the agent could resend a deleted artifact", async () => {
    const setup = await leftFull();
    wait(50 * 60_000);
    expect((await call(setup.admin, "DELETE", `/job/${setup.id}/artifact/report`)).status).toBe(204);
    // Its grant is still valid, so these bytes are in the archive again.
    expect(
      (await sendPart(setup.agent, setup.job, setup.opened, 1, packed({ "a.txt": "x".repeat(1000) }).bytes)).status,
    ).toBe(200);
    expect(await beginInNext(setup, 1)).toBe(429);
  });

  it("count a cache entry with several parts once, when it is complete", async () => {
    const setup = await runningWith(40 * MIB);
    const { agent, job } = setup;
    const bytes = new Uint8Array(33 * MIB);
    const opened = await openCache(agent, job, "v1/large", bytes);
    const parts = [bytes.subarray(0, 32 * MIB), bytes.subarray(32 * MIB)];
    const etags: string[] = [];
    for (const [index, part] of parts.entries()) {
      const path = `/job/${job.build.id}/cache/${opened.body.cacheId}/part/${index + 1}`;
      const headers = { "X-Grant": opened.body.grant, "X-Content-SHA256": sha256(part) };
      etags.push(
        (await call(agent.token, "PUT", path, part, { ...headers, "Content-Length": String(part.length) })).body.etag,
      );
    }
    const md5 = createHash("md5");
    for (const part of parts) md5.update(createHash("md5").update(part).digest());
    const headers = { "X-Grant": opened.body.grant, "X-Lease": String(job.lease) };
    const path = `/job/${job.build.id}/cache/${opened.body.cacheId}/done`;
    const end = { etags, md5: md5.digest("hex") };
    for (let times = 0; times < 2; times++)
      expect((await call(agent.token, "POST", path, end, headers)).status).toBe(204);
    expect([(await begin(setup, 8 * MIB)).status, (await begin(setup, 7 * MIB)).status]).toEqual([429, 201]);
  });

  it("count the cache as the archive lists it once a day, whatever uploads have begun", async () => {
    const setup = await runningWith(10 * MIB);
    const { agent, job, orgId } = setup;
    await saveCache(agent, job, "v1/key", BYTES);
    const unknown = bytesKey(scopePath(orgId, job.build.repoId, "pipeline", "scope"), "entry");
    await env.ARCHIVE.put(unknown, new Uint8Array(4 * MIB));
    expect((await begin(setup, 5 * MIB)).status).toBe(201);
    const upkeep = (at: number) => keepUp(env, new Date(at), { buildDays: 90, auditDays: 400 });
    await upkeep(Date.now());
    const operator = env.OPERATOR_TOKEN ?? "";
    const { stores } = (await call<ServiceMetrics>(operator, "GET", "/operator/metrics")).body;
    const [shown] = stores.filter((one) => one.orgId === orgId);
    expect(shown).toEqual({ orgId, storedBytes: expect.any(Number), mostStoredBytes: 10 * MIB });
    expect(shown?.storedBytes).toBeGreaterThan(5 * MIB);
    expect([(await begin(setup, 2 * MIB)).status, (await begin(setup, MIB - 100)).status]).toEqual([429, 201]);
    await env.ARCHIVE.delete(unknown);
    await upkeep(Date.now() + 60 * 60_000);
    expect((await begin(setup, 4 * MIB)).status).toBe(429);
    await upkeep(Date.now() + DAY_MS);
    expect((await begin(setup, 4 * MIB)).status).toBe(201);
  });
});
