import * as z from "zod/mini";
import { type ArtifactOwner, artifactKey, deleteArtifact } from "../../archive/artifacts.ts";
import { getRecord, putRecord } from "../../archive/records.ts";
import { type PlacedFile, placeFiles } from "../../domain/artifact/file-list.ts";
import { Artifact, ArtifactWithFiles, PathArtifact, type StoredArtifact } from "../../protocol/artifact.ts";
import { PathId } from "../../protocol/common.ts";
import { type FoundBuild, findBuildOrJobRecord, findRecord } from "../builds/builds.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { notFound, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import {
  artifactGone,
  type FoundArtifact,
  type Readable,
  readable,
  readFiles,
  toArtifact,
  toOwner,
} from "./artifact-records.ts";

type LeftByJobs = Record<string, StoredArtifact[]>;

/** A job's artifacts, with the build and the job that ran. For an adopted result, both belong to the earlier build. */
interface LeftByJob {
  buildId: string;
  jobId: string;
  artifacts: StoredArtifact[];
}

/** Returns the artifacts of a build's jobs, by job id. */
export const leftByBuild = async (context: Context, { id, artifacts }: FoundBuild): Promise<LeftByJobs> => {
  if (artifacts) return artifacts;
  const inPool = await (await context.pool()).artifactsOf(id);
  return inPool.ok && inPool.value.buildId === id ? inPool.value.artifacts : {};
};

/**
 * Returns the artifacts of an earlier build's jobs, by job key. The build that adopts a result has a job with the same
 * key.
 */
const leftByKey = async (context: Context, buildId: string): Promise<Map<string, LeftByJob>> => {
  const before = await findRecord(context, buildId);
  const byJob = await leftByBuild(context, before);
  return new Map(before.jobs.map(({ id, key }) => [key, { buildId, jobId: id, artifacts: byJob[id] ?? [] }]));
};

/** Returns the job that ran, if a build adopted the job's result. */
const leftBefore = async (context: Context, buildId: string, key: string): Promise<LeftByJob> => {
  const ran = (await leftByKey(context, buildId)).get(key);
  if (!ran) throw notFound();
  return ran;
};

/** Returns a job's artifacts. @throws Refusal not-found */
const leftByJob = async (context: Context, id: string): Promise<LeftByJob> => {
  const pool = await context.pool();
  const inPool = await pool.artifactsOf(id);
  if (inPool.ok) {
    const { buildId, artifacts } = inPool.value;
    const own = { buildId, jobId: id, artifacts: artifacts[id] ?? [] };
    if (own.artifacts.length > 0 || buildId === id) return own;
    const { adoptedFrom, key } = settled(await pool.getJob(id));
    return adoptedFrom === null ? own : leftBefore(context, adoptedFrom, key);
  }
  if (inPool.refusal.kind !== "not-found") return settled(inPool);
  const record = await findBuildOrJobRecord(context, id);
  const adopted = record.jobs.find((job) => job.id === id);
  if (adopted?.adoptedFrom) return leftBefore(context, adopted.adoptedFrom, adopted.key);
  return { buildId: record.id, jobId: id, artifacts: record.artifacts?.[id] ?? [] };
};

const findNamed = (job: LeftByJob, name: string): StoredArtifact => {
  const artifact = job.artifacts.find((artifact) => artifact.name === name);
  if (!artifact) throw notFound();
  return artifact;
};

/** Returns one artifact of a job. @throws Refusal not-found */
export const findArtifact = async (context: Context, jobId: string, name: string): Promise<FoundArtifact> => {
  const job = await leftByJob(context, jobId);
  const artifact = findNamed(job, name);
  return { owner: toOwner(context.orgId, job.jobId, artifact), artifact };
};

/**
 * Lists the artifacts of a build's jobs, in the order of the jobs. Includes artifacts of jobs that were adopted from
 * earlier builds.
 */
export const listArtifactsOfBuild = async (
  context: Context,
  build: FoundBuild,
  jobs = build.jobs,
): Promise<Artifact[]> => {
  const all: LeftByJobs = { ...(await leftByBuild(context, build)) };
  const adopted = jobs.filter(({ adoptedFrom }) => adoptedFrom !== null);
  // A record may be large. The loop therefore reads each record only once, and reads one record at a time.
  for (const earlier of new Set(adopted.map(({ adoptedFrom }) => adoptedFrom!))) {
    const byKey = await leftByKey(context, earlier).catch(() => null);
    for (const one of adopted) if (one.adoptedFrom === earlier) all[one.id] = byKey?.get(one.key)?.artifacts ?? [];
  }
  return jobs.flatMap(({ id }) => (all[id] ?? []).map((artifact) => toArtifact(id, artifact)));
};

export const listBuildArtifacts = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(Artifact),
  run: async (context, { params }) => listArtifactsOfBuild(context, await findRecord(context, params.id)),
});

export const listJobArtifacts = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(Artifact),
  run: async (context, { params: { id } }) =>
    (await leftByJob(context, id)).artifacts.map((artifact) => toArtifact(id, artifact)),
});

export const getArtifact = verb({
  access: { role: "viewer" },
  params: PathArtifact,
  output: ArtifactWithFiles,
  async run(context, { params }) {
    const { artifact, owner } = await findArtifact(context, params.id, params.name);
    return { ...toArtifact(params.id, artifact), list: await readFiles(context.archive, owner) };
  },
});

/** Removes the artifact from its build's record, if the pool has dropped the build. */
const removeFromRecord = async (context: Context, { buildId, jobId }: LeftByJob, artifactId: string): Promise<void> => {
  const { orgId, finishedAt } = await findRecord(context, buildId);
  const record = await getRecord(context.archive, { orgId, id: buildId, finishedAt: finishedAt ?? "" });
  if (!record?.artifacts?.[jobId]) return;
  const others = record.artifacts[jobId].filter(({ id }) => id !== artifactId);
  await putRecord(context.archive, { ...record, artifacts: { ...record.artifacts, [jobId]: others } });
};

/** Deletes an artifact. Deletes its bytes first, so that a client can repeat an interrupted call. */
export const removeArtifact = verb({
  access: { role: "member" },
  params: PathArtifact,
  async run(context, { params }) {
    const job = await leftByJob(context, params.id);
    const { id: artifactId, ...artifact } = findNamed(job, params.name);
    const { jobId, buildId } = job;
    const { bytes, day } = artifact;
    const detail = { name: artifact.name, artifactId, buildId };
    await commit(context, { action: "artifact.delete", subject: jobId, detail }, []);
    await reaching(deleteArtifact(context.archive, toOwner(context.orgId, jobId, { ...artifact, id: artifactId })));
    const inPool = await (await context.pool()).removeArtifact({ jobId, artifactId, bytes, day });
    if (!inPool.ok) await reaching(removeFromRecord(context, job, artifactId));
  },
});

/** A file in an artifact, with its name and type. */
export interface ReadableFile extends Readable {
  /** The last part of the file's path. */
  name: string;
  sha256: string;
}

export const readableFile = (archive: R2Bucket, owner: ArtifactOwner, file: PlacedFile): ReadableFile => ({
  ...readable(archive, artifactKey(owner), file.size, artifactGone, file.start),
  name: file.path.slice(file.path.lastIndexOf("/") + 1),
  sha256: file.sha256,
});

/** Opens one file of an artifact. @throws Refusal not-found */
export const openFile = async (context: Context, jobId: string, name: string, path: string): Promise<ReadableFile> => {
  const { owner } = await findArtifact(context, jobId, name);
  const file = placeFiles(await readFiles(context.archive, owner)).find((one) => one.path === path);
  if (!file) throw notFound();
  return readableFile(context.archive, owner, file);
};
