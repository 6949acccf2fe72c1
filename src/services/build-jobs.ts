import type * as z from "zod/mini";
import { job } from "../db/schema.ts";
import { Build } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { BuildJob } from "../protocol/job-record.ts";
import { findBuild, findRecord } from "./builds.ts";
import { actorOf, type Context } from "./core/context.ts";
import { isOwn } from "./core/record.ts";
import { notFound, nullIfNotFound, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { viewOf } from "./core/view.ts";
import { type Logged, ownerOf } from "./log-places.ts";

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
