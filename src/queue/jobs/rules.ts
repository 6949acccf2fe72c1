import type { GraphJob } from "../../pipeline/graph/graph.ts";
import type { JobEndStatus } from "../../pipeline/graph/job-end.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import type { Gated } from "../state/facts.ts";
import { isLeasedJob, type JobView, type Need } from "./job-view.ts";

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
