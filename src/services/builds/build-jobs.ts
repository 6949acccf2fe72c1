import { sql } from "drizzle-orm";
import { dayOf } from "../../archive/keys.ts";
import type { LogOwner } from "../../archive/logs.ts";
import { Build } from "../../protocol/build.ts";
import { PathId } from "../../protocol/common.ts";
import { Explanation, sentence } from "../../protocol/explain.ts";
import { BuildJob } from "../../protocol/job-record.ts";
import { HOUR_MS } from "../../protocol/units.ts";
import { actorOf, type Context } from "../core/context.ts";
import { notFound, settled } from "../core/refusal.ts";
import { makeView, verb } from "../core/verb.ts";
import { buildRecord, type ReadJob } from "./build-view.ts";
import { type FoundBuild, findBuildOrJobRecord, findRecord } from "./builds.ts";

/** Milliseconds from a job's end until the service looks for its log in the archive first. */
const MOVED_AFTER = HOUR_MS;

/** The fields of a build, or of a job, that locate its log. */
export type Logged = Pick<Build, "id" | "orgId" | "finishedAt" | "attempt"> & { isLogDeleted?: boolean };

/** Returns the log's owner in the archive; null if the build has not ended. */
export const findLogOwner = ({
  id,
  orgId,
  finishedAt,
}: Pick<Logged, "id" | "orgId" | "finishedAt">): LogOwner | null =>
  finishedAt === null ? null : { day: dayOf(Date.parse(finishedAt)), orgId, jobId: id };

/** Reports whether to look for the log in the archive first. */
export const isLongEnded = ({ now }: Context, { finishedAt }: Pick<Logged, "finishedAt">): boolean =>
  finishedAt !== null && now.getTime() - Date.parse(finishedAt) > MOVED_AFTER;

const viewOfJob = makeView(BuildJob);

const findIn = ({ jobs }: FoundBuild, id: string): ReadJob => {
  const job = jobs.find((one) => one.id === id);
  if (!job) throw notFound();
  return job;
};

/** Returns a job from the pool, or from its build's record. @throws Refusal not-found */
export const findJob = async (context: Context, id: string): Promise<BuildJob> => {
  const inPool = await (await context.pool()).getJob(id);
  if (inPool.ok) return viewOfJob(inPool.value);
  if (inPool.refusal.kind !== "not-found") return settled(inPool);
  return viewOfJob(findIn(await findBuildOrJobRecord(context, id), id) as BuildJob);
};

/**
 * Locates a log. `id` names a job, or a build for the log of its first job. An adopted job has the log of the job that
 * ran.
 * @throws Refusal not-found
 */
export const findLog = async (context: Context, id: string): Promise<Logged> => {
  const build = await findBuildOrJobRecord(context, id);
  if (build.id === id) return build;
  const { finishedAt, attempt, adoptedFrom, key } = findIn(build, id);
  const { orgId, isLogDeleted } = build;
  if (adoptedFrom === null) return { id, orgId, finishedAt, attempt, isLogDeleted };
  const ran = (await findRecord(context, adoptedFrom)).jobs.find((one) => one.key === key);
  return ran ? findLog(context, ran.id) : Promise.reject(notFound());
};

export const getJob = verb({
  access: { role: "viewer" },
  params: PathId,
  output: BuildJob,
  run: (context, { params }) => findJob(context, params.id),
});

/**
 * Cancels a build, or one job. After the cancel of a job, the build's other jobs continue, except those that need it.
 */
const cancel = async <C extends Pick<Build, "id" | "finishedAt">>(
  context: Context,
  id: string,
  show: (build: Build) => C | Promise<C>,
): Promise<C> => {
  const canceled = await show(settled(await (await context.pool()).cancel({ buildId: id, actor: actorOf(context) })));
  const ended = findLogOwner({ ...canceled, orgId: context.orgId });
  // If no agent ran the job, no lease's end closes its log. This call ends the streams of the log's followers.
  if (ended) context.waitUntil(context.objects.log(context.orgId, canceled.id).close({ fence: 0, ended }));
  return canceled;
};

export const cancelBuild = verb({
  access: { role: "member" },
  params: PathId,
  output: Build,
  run: (context, { params }) => cancel(context, params.id, (build) => buildRecord(context, build)),
});

export const cancelJob = verb({
  access: { role: "member" },
  params: PathId,
  output: BuildJob,
  async run(context, { params }) {
    const { id } = await findJob(context, params.id);
    return cancel(context, id, () => findJob(context, id));
  },
});

/** Returns the name of the token that canceled the build; null if nobody canceled it, or if the token was deleted. */
export const findCanceler = async ({ db, orgId }: Context, { id }: Pick<Build, "id">): Promise<string | null> => {
  const [{ results }] = await db.run(
    db.statement<{ name: string }>(sql`
      SELECT t.name FROM audit_log a JOIN token t ON a.actor = 'token:' || t.id AND t.org_id = a.org_id
      WHERE a.org_id = ${orgId} AND a.subject = ${id} AND a.action = 'build.cancel' ORDER BY a.id DESC LIMIT 1`),
  );
  return results[0]?.name ?? null;
};

/** Explains why a build or a job waits: its needs, its gate, the jobs ahead, and each agent. */
export const explainWait = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Explanation,
  async run(context, { params: { id } }) {
    const explained = await (await context.pool()).explain(id);
    if (explained.ok) return explained.value;
    if (explained.refusal.kind !== "not-found") return settled(explained);
    const build = await findBuildOrJobRecord(context, id);
    const { status } = build.jobs.find((job) => job.id === id) ?? build;
    const message = `The ${build.id === id ? "build" : "job"} has ended.`;
    return { buildId: id, status, code: "ended" as const, ...sentence(message), ahead: null, agents: [] };
  },
});

/** Returns a sentence for each queued build, by build id, that explains why it waits. */
export const whyEach = async (context: Context, buildIds: string[]): Promise<Map<string, string>> => {
  return buildIds.length === 0 ? new Map() : (await context.pool()).whyEach(buildIds);
};
