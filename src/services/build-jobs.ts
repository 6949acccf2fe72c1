import { jobIn } from "../archive/records.ts";
import { job } from "../db/schema.ts";
import type { Build, Step } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { Explanation, sentence } from "../protocol/explain.ts";
import { BuildJob } from "../protocol/job-record.ts";
import { findRecord } from "./builds.ts";
import { actorOf, type Context } from "./core/context.ts";
import { isOwn } from "./core/record.ts";
import { notFound, nullIfNotFound, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { viewOf } from "./core/view.ts";
import { withMessages } from "./explain.ts";
import { type Logged, ownerOf } from "./log-places.ts";

const viewOfJob = viewOf(BuildJob);

/** The job as it was stored when its build ended. */
const storedJob = async (context: Context, id: string): Promise<BuildJob> => {
  const { db } = context;
  const [[row]] = await db.run(
    db.sql
      .select({ buildId: job.buildId })
      .from(job)
      .where(isOwn(context, job, id)),
  );
  const found = row && jobIn(await findRecord(context, row.buildId, id), id);
  if (!found) throw notFound();
  return found;
};

/** One job of a build of several: from the pool, or from the record of its build. @throws Refusal not-found */
export const findJob = async (context: Context, id: string): Promise<BuildJob> => {
  const inPool = await (await context.pool()).getJob(id);
  if (inPool.ok) return viewOfJob(inPool.value);
  if (inPool.refusal.kind !== "not-found") return settled(inPool);
  return viewOfJob(await storedJob(context, id));
};

/**
 * What says where a log is. `id` is that of a build, for the log of its first job, or of a job: the log of an adopted
 * one is that of the job that ran. @throws Refusal not-found
 */
export const findLog = async (context: Context, id: string): Promise<Logged> => {
  const build = await nullIfNotFound(findRecord(context, id));
  if (build) return build;
  const { buildId, finishedAt, attempt, adoptedFrom, key } = await findJob(context, id);
  if (adoptedFrom !== null) {
    const ran = (await findRecord(context, adoptedFrom)).jobs?.find((one) => one.key === key);
    return ran ? findLog(context, ran.id) : Promise.reject(notFound());
  }
  const { isLogDeleted } = await findRecord(context, buildId);
  return { id, orgId: context.orgId, finishedAt, attempt, isLogDeleted };
};

/** The steps of jobs by their ids, as far as the record of their build has them: all, once it has ended. */
export const stepsIn = (build: Pick<Build, "jobs">): Map<string, Step[]> =>
  new Map(
    (build.jobs ?? []).flatMap((job): [string, Step[]][] => {
      const { steps } = job as Partial<BuildJob>;
      return steps ? [[job.id, steps]] : [];
    }),
  );

export const getJob = verb({
  access: { role: "viewer" },
  params: PathId,
  output: BuildJob,
  run: (context, { params }) => findJob(context, params.id),
});

/** Ends one job; the others of its build go on, but for those that need it. */
export const cancelJob = verb({
  access: { role: "member" },
  params: PathId,
  output: BuildJob,
  async run(context, { params }) {
    const pool = await context.pool();
    const { id } = await findJob(context, params.id);
    settled(await pool.cancel({ buildId: id, actor: actorOf(context) }));
    const canceled = await findJob(context, id);
    const ended = ownerOf({ ...canceled, orgId: context.orgId });
    // As with a build that no agent had: this ends the streams of those who wait for its log.
    if (ended) context.waitUntil(context.objects.log(context.orgId, id).close({ fence: 0, ended }));
    return canceled;
  },
});

/** Why a job waits: its needs, its gate, the jobs before it, and each agent. */
export const explainJob = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Explanation,
  async run(context, { params }) {
    const { id, buildId } = await findJob(context, params.id);
    const explained = await (await context.pool()).explain(id);
    if (explained.ok) return withMessages(explained.value);
    if (explained.refusal.kind !== "not-found") return settled(explained);
    const { status } = await findRecord(context, buildId);
    return { buildId: id, status, code: "ended" as const, ...sentence("The job has ended."), ahead: null, agents: [] };
  },
});
