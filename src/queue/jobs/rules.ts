import type { GraphJob } from "../../pipeline/graph/graph.ts";
import type { JobCause, JobEnd, JobEndStatus } from "../../pipeline/graph/job-end.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { BuildFacts, Gated, JobFacts, Outcome } from "../state/facts.ts";

/** What of a build decides what becomes of its jobs, and what follows from them. */
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

/** One job as it stands, with what was ordered for it so far. */
export interface JobView {
  job: GraphJob;
  status: JobStatus;
  startedAt: number | null;
  message: string | null;
  gate: Gated | null;
  stopCause: JobCause | null;
  /** Failed tries that another one followed, in this build. */
  retries: number;
  /** Null until it has ended. */
  end: EndOfJob | null;
}

/** A job that another one needs. */
export interface Need {
  view: JobView;
  isOptional: boolean;
}

export const isLeasedJob = ({ status }: JobView): boolean =>
  status === "assigned" || status === "running" || status === "canceling";

/** A cancel of a whole build, by a person or by its deadline (milliseconds since 1970). */
export interface BuildCancel {
  at: number;
  /** Jobs that clean up may run until then. */
  until: number;
  isTimeout: boolean;
}

/** The rules of builds and their jobs. The simulation replaces one at a time by a wrong one. */
export const JOB_RULES = {
  /** Whether all that the job needs has ended. */
  isReady: (needs: readonly Need[], _job: GraphJob): boolean => needs.every(({ view }) => view.end !== null),
  /** Whether success() holds as far as this need goes. */
  good: ({ status, job }: JobView, isOptional: boolean): boolean =>
    status === "succeeded" || (status === "failed" && job.mayFail) || (status === "skipped" && isOptional),
  /** Whether failure() holds for this need. */
  isFailure: ({ status, job, end }: JobView): boolean =>
    (status === "failed" && !job.mayFail) || (status === "dropped" && end?.cause?.kind === "need-failed"),
  /** How a job ends that its needs keep from running. */
  endsAs: (inTheWay: readonly JobView[]): Extract<JobEndStatus, "skipped" | "dropped"> =>
    inTheWay.every(({ status }) => status === "skipped") ? "skipped" : "dropped",
  gateIsOpen: ({ decision }: Gated, _now: number): boolean => decision?.approved === true,
  /** Whether the gate stays closed for good. */
  gateIsOver: ({ decision, until }: Gated, now: number): boolean =>
    decision?.approved === false || (decision === null && now >= until),
  /** Whether a cancel of the build reaches the job, now. */
  stops: (isSpared: boolean, { until }: BuildCancel, now: number): boolean => !isSpared || now >= until,
  /** Whether the end of this job may end others. */
  tripsFailFast: ({ status, job }: JobView): boolean => status === "failed" && !job.mayFail,
  /** Whether the job ends because that one failed. */
  isInCircle: ({ job }: JobView, failed: JobView, ofFile: boolean, isSpared: boolean): boolean =>
    (ofFile && !isSpared) || (failed.job.failFast && failed.job.definition === job.definition),
  buildIsOver: (jobs: readonly JobView[]): boolean => jobs.every(({ end }) => end !== null),
  buildOutcome: (jobs: readonly JobView[], cancel: BuildCancel | null): EndedStatus => {
    if (cancel) return cancel.isTimeout ? "failed" : "canceled";
    if (jobs.some(({ status, job }) => status === "failed" && !job.mayFail)) return "failed";
    return jobs.some(({ status }) => status === "canceled") ? "canceled" : "succeeded";
  },
  /** Whether the build counts for its pipeline's limit: from its first lease until nothing of it is ready or leased. */
  holdsPlace: (holds: boolean, jobs: readonly JobView[]): boolean =>
    jobs.some(isLeasedJob) || (holds && jobs.some(({ status }) => status === "queued")),
  /** Whether a retry of what failed runs this job anew, which depends on these. */
  runsAnew: (end: { status: JobStatus } | null, needsRunAnew: boolean): boolean =>
    needsRunAnew || (end?.status !== "succeeded" && end?.status !== "skipped"),
};

export type JobRules = typeof JOB_RULES;

/** How one try of a job ended. */
type Tried = Pick<Outcome, "reason"> & { status: JobEndStatus };

/** Steps failed, or the time of one try was over. Another try would not mend what else can end a job. */
const mayBeMended = ({ status, reason }: Tried): boolean =>
  status === "failed" && (reason === null || reason === "timeout");

/** Whether another try follows one that ended so. */
export const triesAgain = (
  { status, retry = 0, retries = 0 }: Pick<JobFacts, "status" | "retry" | "retries">,
  outcome: Tried,
): boolean => status === "running" && mayBeMended(outcome) && retries < retry;

/** Milliseconds for which jobs that clean up may run after their build was canceled. */
export const CLEAN_UP_MS = 5 * MINUTE_MS;

/** The cancel that holds for a build now; its own deadline is one too. */
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
