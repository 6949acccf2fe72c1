import { CLEAN_UP_MS } from "../jobs/rules.ts";
import {
  audit,
  type Decision,
  type DecisionContext,
  decided,
  isRemembered,
  leaseLost,
  patchBuild,
  refused,
  SYSTEM,
  unknownId,
} from "../state/decision.ts";
import type { BuildFacts, Change, JobFacts } from "../state/facts.ts";
import { graphOf, jobsOf, type PoolState } from "../state/state.ts";
import type { Actor } from "./commands.ts";

/** The reason for a build's cancel, in words for people, and the newer head's build if that build replaced this one. */
export interface Cancellation {
  message: string | null;
  supersededBy: string | null;
}

/**
 * Cancels a whole build. The pool settles its jobs next. A second cancel ends the remaining time of jobs that clean up.
 */
export const cancelBuild = (
  build: BuildFacts,
  { message, supersededBy }: Cancellation,
  actor: Actor,
  context: DecisionContext,
): Change[] => {
  const { now } = context;
  const { id, status } = build;
  const detail = supersededBy === null ? { status } : { status, supersededBy };
  const cancel = build.cancel ? { ...build.cancel, until: now } : { at: now, until: now + CLEAN_UP_MS };
  return [
    ...audit(actor, "build.cancel", id, detail, context),
    ...patchBuild(build, { message, ...(supersededBy !== null && { supersededBy }), cancel }, context),
  ];
};

/** Cancels a build, or one of its planned jobs, for a person or a program. */
export const cancel = (
  state: PoolState,
  { buildId, actor }: { buildId: string; actor: Actor },
  context: DecisionContext,
): Decision<string> => {
  const build = state.builds.get(buildId);
  const job = state.jobs.get(buildId);
  if (!build && job) return cancelJob(state, job, actor, context);
  if (!build) return isRemembered(state, buildId) ? refused("conflict", "The build has already ended.") : unknownId();
  if (!context.rules.mayCancel(build, jobsOf(state, buildId), context.now)) return decided(buildId);
  return decided(buildId, cancelBuild(build, { message: null, supersededBy: null }, actor, context));
};

/** Cancels one job. The other jobs continue, except those that need it. The pool settles the job's end next. */
const cancelJob = (state: PoolState, job: JobFacts, actor: Actor, context: DecisionContext): Decision<string> => {
  const { id, buildId, index } = job;
  if (job.end) return refused("conflict", "The job has already ended.");
  if (job.stopCause) return decided(buildId);
  const detail = { buildId, key: graphOf(state, buildId).jobs[index]!.key };
  return decided(buildId, [
    { kind: "job", job: { ...job, stopCause: { kind: "canceled", job: null, text: null } } },
    ...audit(actor, "job.cancel", id, detail, context),
  ]);
};

/**
 * Marks a job whose agent sent an unmasked secret, and its build. People then see the leak, even after both have ended.
 */
export const flagLeak = (
  state: PoolState,
  { jobId, fence }: { jobId: string; fence: number },
  context: DecisionContext,
): Decision<null> => {
  const job = state.jobs.get(jobId) ?? state.records.endedJob(jobId)?.job;
  const buildId = job?.buildId ?? jobId;
  const build = state.builds.get(buildId) ?? state.records.ended(buildId);
  // If planned jobs replaced a first job, its build remembers the lease.
  const last = job ?? build?.plannedBy;
  if (!last) return unknownId();
  if (last.fence < fence) return leaseLost();
  if (job ? job.leak : build?.leak) return decided(null);
  const detail = { fence, agentId: last.agentId };
  return decided(null, [
    ...(job ? [{ kind: "job", job: { ...job, leak: true } } as const] : []),
    // Do this even if another of its jobs had leaked: an ended build's record shows the leak for each job.
    ...(build ? patchBuild(build, { leak: true }, context) : []),
    ...audit(SYSTEM, "build.leak", jobId, detail, context),
  ]);
};
