import { sql } from "drizzle-orm";
import type * as z from "zod/mini";
import { dayOf } from "../archive/keys.ts";
import type { LogOwner } from "../archive/logs.ts";
import { job } from "../db/schema.ts";
import { Build } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { BuildJob } from "../protocol/job-record.ts";
import { findBuild, findRecord } from "./builds.ts";
import { actorOf, type Context } from "./core/context.ts";
import { isOwn } from "./core/record.ts";
import { notFound, nullIfNotFound, settled } from "./core/refusal.ts";
import { verb, viewOf } from "./core/verb.ts";

/** Milliseconds after its end from which on a build's log is looked for in the archive first. */
const MOVED_AFTER = 60 * 60_000;

/** What of a build, or of a job, says where its log is. */
export type Logged = Pick<Build, "id" | "orgId" | "finishedAt" | "attempt"> & { isLogDeleted?: boolean };

/** Whose log it is in the archive; null for a build that has not ended. */
export const ownerOf = ({ id, orgId, finishedAt }: Pick<Logged, "id" | "orgId" | "finishedAt">): LogOwner | null =>
  finishedAt === null ? null : { day: dayOf(Date.parse(finishedAt)), orgId, jobId: id };

/** Whether the log is looked for in the archive first. */
export const isLongEnded = ({ now }: Context, { finishedAt }: Pick<Logged, "finishedAt">): boolean =>
  finishedAt !== null && now.getTime() - Date.parse(finishedAt) > MOVED_AFTER;

const viewOfJob = viewOf(BuildJob);

/** The build of a job that D1 knows. A first job has the id of its build. */
export const buildIdOf = async (context: Context, id: string): Promise<string> => {
  const { db } = context;
  const [[row]] = await db.run(
    db.sql
      .select({ buildId: job.buildId })
      .from(job)
      .where(isOwn(context, job, id)),
  );
  return row?.buildId ?? id;
};

/** A job: from the pool, or from the record of its build. @throws Refusal not-found */
export const findJob = async (context: Context, id: string): Promise<BuildJob> => {
  const inPool = await (await context.pool()).getJob(id);
  if (inPool.ok) return viewOfJob(inPool.value);
  if (inPool.refusal.kind !== "not-found") return settled(inPool);
  const { jobs } = await findRecord(context, await buildIdOf(context, id), id);
  const found = jobs.find((one) => one.id === id);
  if (!found) throw notFound();
  return viewOfJob(found as BuildJob);
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
    const ran = (await findRecord(context, adoptedFrom)).jobs.find((one) => one.key === key);
    return ran ? findLog(context, ran.id) : Promise.reject(notFound());
  }
  const { isLogDeleted } = await findRecord(context, buildId);
  return { id, orgId: context.orgId, finishedAt, attempt, isLogDeleted };
};

export const getJob = verb({
  access: { role: "viewer" },
  params: PathId,
  output: BuildJob,
  run: (context, { params }) => findJob(context, params.id),
});

/** Ends a build, or one job: the others of its build go on, but for those that need it. */
const cancelOf = <S extends typeof Build | typeof BuildJob>(
  output: S,
  find: (context: Context, id: string) => Promise<z.output<S>>,
) =>
  verb({
    access: { role: "member" },
    params: PathId,
    output,
    async run(context, { params }) {
      const { id } = await find(context, params.id);
      settled(await (await context.pool()).cancel({ buildId: id, actor: actorOf(context) }));
      const canceled = await find(context, id);
      const ended = ownerOf({ ...canceled, orgId: context.orgId });
      // What no agent had has no lease whose end closes the log: this ends the streams of those who wait for it.
      if (ended) context.waitUntil(context.objects.log(context.orgId, id).close({ fence: 0, ended }));
      return canceled;
    },
  });

export const cancelBuild = cancelOf(Build, findBuild);
export const cancelJob = cancelOf(BuildJob, findJob);

/** The name of the token that canceled the build; null where nobody did, or the token is gone. */
export const findCanceler = async ({ db, orgId }: Context, { id }: Pick<Build, "id">): Promise<string | null> => {
  const [{ results }] = await db.run(
    db.statement<{ name: string }>(sql`
      SELECT t.name FROM audit_log a JOIN token t ON a.actor = 'token:' || t.id AND t.org_id = a.org_id
      WHERE a.org_id = ${orgId} AND a.subject = ${id} AND a.action = 'build.cancel' ORDER BY a.id DESC LIMIT 1`),
  );
  return results[0]?.name ?? null;
};
