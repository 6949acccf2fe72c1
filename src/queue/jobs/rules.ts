import type { GraphJob } from "../../pipeline/graph/graph.ts";
import type { JobCause, JobEnd, JobEndStatus } from "../../pipeline/graph/job-end.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { BuildFacts, Gated, JobFacts, Outcome } from "../state/facts.ts";

/** The fields of a build that affect its jobs, and the fields that follow from its jobs. */
export type BuildView = Pick<
  BuildFacts,
  "status" | "startedAt" | "message" | "until" | "holdsPlace" | "cancel" | "supersededBy" | "plannedBy"
>;

export type EndOfJob = Pick<
  JobEnd,
  "status" | "cause" | "exitCode" | "reason" | "message" | "startedAt" | "finishedAt"
> & {
  isAdopted?: boolean;
};

/** A job's current state, with all orders so far applied. */
export interface JobView {
  job: GraphJob;
  status: JobStatus;
  startedAt: number | null;
  message: string | null;
  gate: Gated | null;
  stopCause: JobCause | null;
  /** The number of failed tries in this build that another try followed. */
  retries: number;
  /** The job's end; null until the job has ended. */
  end: EndOfJob | null;
}

/** A job that another job needs. */
export interface Need {
  view: JobView;
  isOptional: boolean;
}

export const isLeasedJob = ({ status }: JobView): boolean =>
  status === "assigned" || status === "running" || status === "canceling";

/** The cancel of a whole build, by a person or by its deadline (milliseconds since 1970). */
export interface BuildCancel {
  at: number;
  /** Jobs that clean up may run until this time. */
  until: number;
  isTimeout: boolean;
}

/** The rules for builds and their jobs. The simulation replaces one rule at a time with a wrong one. */
export const JOB_RULES = {
  /** Reports whether all needs of the job have ended. */
  isReady: (needs: readonly Need[], _job: GraphJob): boolean => needs.every(({ view }) => view.end !== null),
  /** Reports whether this need allows success() to hold. */
  good: ({ status, job }: JobView, isOptional: boolean): boolean =>
    status === "succeeded" || (status === "failed" && job.mayFail) || (status === "skipped" && isOptional),
  /** Reports whether failure() holds for this need. */
  isFailure: ({ status, job, end }: JobView): boolean =>
    (status === "failed" && !job.mayFail) || (status === "dropped" && end?.cause?.kind === "need-failed"),
  /** Returns the status of a job that its needs keep from running. */
  endsAs: (inTheWay: readonly JobView[]): Extract<JobEndStatus, "skipped" | "dropped"> =>
    inTheWay.every(({ status }) => status === "skipped") ? "skipped" : "dropped",
  gateIsOpen: ({ decision }: Gated, _now: number): boolean => decision?.approved === true,
  /** Reports whether the gate stays closed for good. */
  gateIsOver: ({ decision, until }: Gated, now: number): boolean =>
    decision?.approved === false || (decision === null && now >= until),
  /** Reports whether a cancel of the build reaches the job now. */
  stops: (isSpared: boolean, { until }: BuildCancel, now: number): boolean => !isSpared || now >= until,
  /** Reports whether this job's end may end others. */
  tripsFailFast: ({ status, job }: JobView): boolean => status === "failed" && !job.mayFail,
  /** Reports whether the job ends because the other job failed. */
  isInCircle: ({ job }: JobView, failed: JobView, ofFile: boolean, isSpared: boolean): boolean =>
    (ofFile && !isSpared) || (failed.job.failFast && failed.job.definition === job.definition),
  buildIsOver: (jobs: readonly JobView[]): boolean => jobs.every(({ end }) => end !== null),
  buildOutcome: (jobs: readonly JobView[], cancel: BuildCancel | null): EndedStatus => {
    if (cancel) return cancel.isTimeout ? "failed" : "canceled";
    if (jobs.some(({ status, job }) => status === "failed" && !job.mayFail)) return "failed";
    return jobs.some(({ status }) => status === "canceled") ? "canceled" : "succeeded";
  },
  /**
   * Reports whether the build counts toward its pipeline's limit. It counts from its first lease until none of its
   * jobs is ready or leased.
   */
  holdsPlace: (holds: boolean, jobs: readonly JobView[]): boolean =>
    jobs.some(isLeasedJob) || (holds && jobs.some(({ status }) => status === "queued")),
  /**
   * Reports whether a retry of the failed jobs reruns this job. `needsRunAnew` means that the retry reruns one of its
   * needs.
   */
  runsAnew: (end: { status: JobStatus } | null, needsRunAnew: boolean): boolean =>
    needsRunAnew || (end?.status !== "succeeded" && end?.status !== "skipped"),
};

export type JobRules = typeof JOB_RULES;

/** The end of one try of a job. */
type Tried = Pick<Outcome, "reason"> & { status: JobEndStatus };

/**
 * Reports whether another try could help, because steps failed or the try timed out. It cannot help after any other
 * end.
 */
const mayBeMended = ({ status, reason }: Tried): boolean =>
  status === "failed" && (reason === null || reason === "timeout");

/** Reports whether another try follows a try with this outcome. */
export const triesAgain = (
  { status, retry = 0, retries = 0 }: Pick<JobFacts, "status" | "retry" | "retries">,
  outcome: Tried,
): boolean => status === "running" && mayBeMended(outcome) && retries < retry;

/** Milliseconds for which clean-up jobs may run after the cancel of their build. */
export const CLEAN_UP_MS = 5 * MINUTE_MS;

/** Returns the cancel that applies to a build now. The build's own deadline counts as a cancel. */
export const currentCancel = (
  { cancel, until }: Pick<BuildFacts, "cancel" | "until">,
  now: number,
): BuildCancel | null => {
  if (cancel && (until === null || cancel.at <= until)) return { ...cancel, isTimeout: false };
  if (until === null || now < until) return null;
  const byDeadline = until + CLEAN_UP_MS;
  return { at: until, until: cancel ? Math.min(byDeadline, cancel.until) : byDeadline, isTimeout: true };
};

export const TOO_LONG = `The build ran for longer than ${LIMITS.buildDays} days.`;
