import { sql } from "drizzle-orm";
import type * as z from "zod/mini";
import type { BuildRecord } from "../../archive/records.ts";
import { buildSummary } from "../../db/schema.ts";
import { originOfRetry } from "../../githosts/core/build-origin.ts";
import { withGate } from "../../pipeline/graph/group-protection.ts";
import { Build, BuildRetry } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { PathId } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { NewPlan, PlanOfBuild, RunValues } from "../../queue/commands/commands.ts";
import { keysToRerun, planRerun } from "../../queue/jobs/rerun.ts";
import type { Context } from "../core/context.ts";
import { isOwn } from "../core/record.ts";
import { type ObjectResult, Refusal } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { groupsOfPipeline } from "../variables/variable-scopes.ts";
import { findRecord } from "./builds.ts";
import { openRun } from "./run-values.ts";
import { type AskedElsewhere, type Trigger, trigger } from "./triggers.ts";

/**
 * Returns the values that the pool keeps for a run. Once the pool has dropped them, the archive's record is enough for
 * a run without values and keys of its own.
 */
const readRunValues = async (context: Context, build: BuildRecord): Promise<RunValues | null> => {
  const inputs = await (await context.pool()).inputsOf(build.id);
  if (inputs.ok) return inputs.value;
  const { requires, hasRunValues, priority } = build;
  const hasNone = hasRunValues === false || build.trust === "untrusted";
  return requires && hasNone ? { inputs: null, secretKeys: [], requires, priority } : null;
};

/** Returns the inputs of an earlier build's run. @throws Refusal conflict if they are no longer kept */
const readInputs = async (context: Context, build: BuildRecord): Promise<Trigger> => {
  const runValues = await readRunValues(context, build);
  if (!runValues) throw new Refusal("conflict", "The build's inputs are no longer kept: trigger a new build.");
  const { inputs, secretKeys, requires, priority } = runValues;
  return {
    repoId: build.repoId,
    pipelineId: build.pipelineId,
    branch: build.branch,
    commitSha: build.commitSha,
    envVariables: await openRun(context, build, inputs),
    secretKeys,
    priority,
    labels: requires.labels ?? [],
  };
};

/** Counts the consecutive retries up to this build, including it. The count is at most one more than the limit. */
const repeatsBefore = ({ orgId }: Context, id: string) => sql<number>`(
  WITH RECURSIVE chain (id, length) AS (
    SELECT ${id}, 0
    UNION ALL
    SELECT earlier.retry_of, length + 1 FROM chain JOIN build_summary AS earlier
    ON earlier.org_id = ${orgId} AND earlier.id = chain.id
    WHERE earlier.retry_of IS NOT NULL AND length <= ${LIMITS.retriesInARow}
  ) SELECT max(length) FROM chain)`;

/**
 * Plans the failed jobs.
 * @throws Refusal conflict if there is nothing to retry, the retry limit is reached, or the plan is no longer kept
 */
const planFailedJobs = async (context: Context, build: BuildRecord): Promise<NewPlan> => {
  if (build.trust === "untrusted")
    throw new Refusal("conflict", "An untrusted build is approved as a whole: retry the whole build.");
  const { sql: db } = context.db;
  const [[retried], groups] = await context.db.run(
    db
      .select({ repeats: repeatsBefore(context, build.id).as("repeats") })
      .from(buildSummary)
      .where(isOwn(context, buildSummary, build.id)),
    groupsOfPipeline(db, context.orgId, build.pipelineId),
  );
  if ((retried?.repeats ?? 0) >= LIMITS.retriesInARow)
    throw new Refusal("conflict", `The failed jobs were retried ${LIMITS.retriesInARow} times: trigger a new build.`);
  const answer = (await (await context.pool()).planOf(build.id)) as ObjectResult<PlanOfBuild>;
  const plan = answer.ok ? answer.value : (build.plan as PlanOfBuild | undefined);
  if (!plan) throw new Refusal("conflict", "The build's jobs cannot be retried separately: retry the whole build.");
  const attached = groups.flatMap(({ id, name, protection }) =>
    id === null || name === null ? [] : [{ id, name, protection }],
  );
  const again = ({ id: _, ...job }: (typeof plan.graph.jobs)[number]) =>
    withGate({ ...job, id: context.newId() }, attached, { branch: build.branch, trust: "trusted" });
  const graph = { ...plan.graph, jobs: plan.graph.jobs.map(again) };
  const adopted = planRerun({ buildId: build.id, graph: plan.graph, jobs: plan.jobs }, graph);
  if (Object.keys(adopted).length === graph.jobs.length)
    throw new Refusal("conflict", "No job in this build failed: retry the whole build.");
  return { graph, text: plan.text, adopted };
};

/** Retries the build, or only its failed jobs, depending on `only`. @throws Refusal conflict if that is not possible */
export const repeatBuild = async (
  context: Context,
  id: string,
  only: z.output<typeof BuildRetry>["only"],
  elsewhere: AskedElsewhere | null = null,
): Promise<Build> => {
  const build = await findRecord(context, id);
  if (!isEnded(build.status)) {
    throw new Refusal("conflict", "The build has not ended: cancel it first, or wait.");
  }
  const trust = build.trust ?? "trusted";
  const origin = { retryOf: build.id, madeBy: originOfRetry(build), trust, ...(elsewhere && { asked: elsewhere }) };
  const planned = only ? { planned: await planFailedJobs(context, build) } : {};
  return trigger(context, await readInputs(context, build), { ...origin, ...planned });
};

export const retryBuild = verb({
  access: { role: "member" },
  params: PathId,
  body: BuildRetry,
  mayLackBody: true,
  output: Build,
  run: (context, { params, body }) => repeatBuild(context, params.id, body.only),
});

/** Returns how many jobs of an ended build a retry of the failed jobs runs. The retry adopts the other jobs. */
export const countToRetry = (jobs: JobOfBuild[]): number => {
  const byKey = new Map(jobs.map((job) => [job.key, job]));
  return keysToRerun(jobs, (key) => byKey.get(key) ?? null).size;
};
