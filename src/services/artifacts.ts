import * as z from "zod/mini";
import { deleteArtifact, readFileList } from "../archive/artifacts.ts";
import { getRecord, jobIn, putRecord } from "../archive/records.ts";
import { job } from "../db/schema.ts";
import { Artifact, type ArtifactFile, ArtifactWithFiles, PathArtifact } from "../protocol/artifact.ts";
import { PathId } from "../protocol/common.ts";
import type { StoredArtifact } from "../protocol/stored-artifact.ts";
import { type FoundArtifact, ownerOf, toArtifact } from "./artifact-records.ts";
import { findRecord } from "./builds.ts";
import { commit } from "./core/commit.ts";
import type { Context } from "./core/context.ts";
import { reaching } from "./core/outage.ts";
import { isOwn } from "./core/record.ts";
import { notFound, Refusal, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";

type LeftByJobs = Record<string, StoredArtifact[]>;

/** What a job left, with the build and the job that ran: of a result that was taken over, those of the earlier build. */
interface LeftByJob {
  buildId: string;
  jobId: string;
  artifacts: StoredArtifact[];
}

type Found = Awaited<ReturnType<typeof findRecord>>;

/** What the jobs of a build left, by their ids. */
export const leftByBuild = async (context: Context, { id, artifacts }: Found): Promise<LeftByJobs> => {
  const inPool = await (await context.pool()).artifactsOf(id);
  if (inPool.ok && inPool.value.buildId === id) return inPool.value.artifacts;
  return artifacts ?? {};
};

/** The build of a job that D1 knows; a build of one job has the id of its job. */
const buildIdOf = async (context: Context, id: string): Promise<string> => {
  const { db } = context;
  const [[row]] = await db.run(
    db.sql
      .select({ buildId: job.buildId })
      .from(job)
      .where(isOwn(context, job, id)),
  );
  return row?.buildId ?? id;
};

/** What the jobs of an earlier build left, by their keys: a build that took over a result has a job of the same key. */
const leftByKey = async (context: Context, buildId: string): Promise<Map<string, LeftByJob>> => {
  const before = await findRecord(context, buildId);
  const left = await leftByBuild(context, before);
  const jobs = before.jobs ?? [];
  return new Map(jobs.map(({ id, key }) => [key, { buildId, jobId: id, artifacts: left[id] ?? [] }]));
};

/** The job that ran where a build took over its result. */
const leftBefore = async (context: Context, buildId: string, key: string): Promise<LeftByJob> => {
  const ran = (await leftByKey(context, buildId)).get(key);
  if (!ran) throw notFound();
  return ran;
};

/** What a job, or a build of one job, left. @throws Refusal not-found */
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
  const buildId = await buildIdOf(context, id);
  const record = await findRecord(context, buildId);
  const adopted = jobIn(record, id);
  if (adopted?.adoptedFrom) return leftBefore(context, adopted.adoptedFrom, adopted.key);
  return { buildId, jobId: id, artifacts: record.artifacts?.[id] ?? [] };
};

const named = (left: LeftByJob, name: string): StoredArtifact => {
  const found = left.artifacts.find((artifact) => artifact.name === name);
  if (!found) throw notFound();
  return found;
};

/** One artifact of a job. @throws Refusal not-found */
export const findArtifact = async (context: Context, jobId: string, name: string): Promise<FoundArtifact> => {
  const left = await leftByJob(context, jobId);
  const artifact = named(left, name);
  return { owner: ownerOf(context.orgId, left.jobId, artifact), artifact };
};

/** The files of an artifact. @throws Refusal gone where retention or a person deleted them */
export const filesOf = async (context: Context, { owner }: Pick<FoundArtifact, "owner">): Promise<ArtifactFile[]> => {
  const list = await reaching(readFileList(context.archive, owner));
  if (!list) throw new Refusal("gone", "This artifact was deleted, or the days for which it was kept are over.");
  return list;
};

export const listJobArtifacts = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(Artifact),
  async run(context, { params }) {
    const { artifacts } = await leftByJob(context, params.id);
    return artifacts.map((artifact) => toArtifact(params.id, artifact));
  },
});

/** What all its jobs left, in the order of the jobs; with what was taken over from earlier builds. */
export const artifactsOf = async (context: Context, build: Found): Promise<Artifact[]> => {
  const { id, jobs } = build;
  const own = await leftByBuild(context, build);
  const adopted = (jobs ?? []).filter(({ adoptedFrom }) => adoptedFrom !== null);
  const all: LeftByJobs = { ...own };
  // A record may be large: each is read once, and one at a time.
  for (const earlier of new Set(adopted.map(({ adoptedFrom }) => adoptedFrom!))) {
    const left = await leftByKey(context, earlier).catch(() => null);
    for (const one of adopted) if (one.adoptedFrom === earlier) all[one.id] = left?.get(one.key)?.artifacts ?? [];
  }
  const ids = jobs ? [id, ...jobs.map((one) => one.id)] : [id];
  return ids.flatMap((jobId) => (all[jobId] ?? []).map((artifact) => toArtifact(jobId, artifact)));
};

export const listBuildArtifacts = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(Artifact),
  run: async (context, { params }) => artifactsOf(context, await findRecord(context, params.id)),
});

export const getArtifact = verb({
  access: { role: "viewer" },
  params: PathArtifact,
  output: ArtifactWithFiles,
  async run(context, { params }) {
    const found = await findArtifact(context, params.id, params.name);
    return { ...toArtifact(params.id, found.artifact), list: await filesOf(context, found) };
  },
});

/** Takes the artifact out of the record of its build, where the pool has forgotten the build. */
const removeFromRecord = async (context: Context, { buildId, jobId }: LeftByJob, artifactId: string): Promise<void> => {
  const { orgId, finishedAt } = await findRecord(context, buildId);
  const record = await getRecord(context.archive, { orgId, id: buildId, finishedAt: finishedAt ?? "" });
  if (!record?.artifacts?.[jobId]) return;
  const left = record.artifacts[jobId].filter(({ id }) => id !== artifactId);
  await putRecord(context.archive, { ...record, artifacts: { ...record.artifacts, [jobId]: left } });
};

/** Deletes an artifact: its bytes first, so that what is interrupted can be repeated. */
export const removeArtifact = verb({
  access: { role: "member" },
  params: PathArtifact,
  async run(context, { params }) {
    const left = await leftByJob(context, params.id);
    const { id: artifactId, ...artifact } = named(left, params.name);
    const { jobId, buildId } = left;
    const { bytes, day } = artifact;
    const detail = { name: artifact.name, artifactId, buildId };
    await commit(context, { action: "artifact.delete", subject: jobId, detail }, []);
    await reaching(deleteArtifact(context.archive, ownerOf(context.orgId, jobId, { ...artifact, id: artifactId })));
    const inPool = await (await context.pool()).removeArtifact({ jobId, artifactId, bytes, day });
    if (!inPool.ok) await reaching(removeFromRecord(context, left, artifactId));
  },
});
