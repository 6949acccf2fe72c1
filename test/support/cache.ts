import { expect } from "vitest";
import type { CacheOpening, FoundCache, OpenedCache } from "../../src/protocol/cache.ts";
import type { Job } from "../../src/protocol/jobs.ts";
import { call } from "./api.ts";
import { sha256 } from "./artifact-files.ts";
import { callWithLease } from "./jobs.ts";

interface Caller {
  id: string;
  token: string;
}

const idOf = (job: Job): string => job.job?.id ?? job.build.id;

/** Requests these keys, with fallbacks for all. */
export const findCache = (agent: Caller, job: Job, keys: string[], fallback: string[] = [], codecs = ["gzip"]) =>
  callWithLease(agent, job, "POST", "cache/find", { entries: keys.map((key) => ({ key, fallback })), codecs });

export const openCache = (agent: Caller, job: Job, key: string, bytes: Uint8Array, more: Partial<CacheOpening> = {}) =>
  callWithLease(agent, job, "POST", "cache", {
    key,
    bytes: bytes.length,
    sha256: sha256(bytes),
    codec: "gzip",
    ...more,
  });

export const sendCachePart = (
  agent: Caller,
  job: Job,
  { cacheId, grant }: Pick<OpenedCache, "cacheId" | "grant">,
  bytes: Uint8Array,
  headers: Record<string, string> = {},
) =>
  call(agent.token, "PUT", `/job/${idOf(job)}/cache/${cacheId}/part/1`, bytes, {
    ...{ "X-Grant": grant, "X-Content-SHA256": sha256(bytes), "Content-Length": String(bytes.length) },
    ...headers,
  });

export const endCache = (
  agent: Caller,
  job: Job,
  { cacheId, grant }: Pick<OpenedCache, "cacheId" | "grant">,
  etags: string[],
  lease = job.lease,
) =>
  call(
    agent.token,
    "POST",
    `/job/${idOf(job)}/cache/${cacheId}/done`,
    { etags },
    {
      ...{ "X-Grant": grant, "X-Lease": String(lease) },
    },
  );

/** Requests another grant for a save in progress. */
export const renewCache = (agent: Caller, job: Job, key: string, bytes: Uint8Array, grant: string) => {
  const body = { key, bytes: bytes.length, sha256: sha256(bytes), codec: "gzip" };
  const headers = { "X-Lease": String(job.lease), "X-Grant": grant };
  return call(agent.token, "POST", `/job/${idOf(job)}/cache`, body, headers);
};

/** Saves an entry with one part, as an agent does. */
export const saveCache = async (agent: Caller, job: Job, key: string, bytes: Uint8Array): Promise<OpenedCache> => {
  const opened = await openCache(agent, job, key, bytes);
  expect(opened, opened.text).toMatchObject({ status: 201 });
  const part = await sendCachePart(agent, job, opened.body, bytes);
  expect(part, part.text).toMatchObject({ status: 200 });
  const done = await endCache(agent, job, opened.body, [part.body.etag]);
  expect(done, done.text).toMatchObject({ status: 204 });
  return opened.body;
};

/** Returns a job's entry for one key; null if it finds none. */
export const findEntry = async (agent: Caller, job: Job, key: string, fallback: string[] = []) => {
  const answer = await findCache(agent, job, [key], fallback);
  expect(answer, answer.text).toMatchObject({ status: 200 });
  return (answer.body as FoundCache).entries[0] ?? null;
};
