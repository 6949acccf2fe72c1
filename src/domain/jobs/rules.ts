import type { JobStatus } from "../../protocol/build-job.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { includesRole, type Role } from "../../protocol/token.ts";
import type { Gated } from "../pool/facts.ts";
import type { GraphJob } from "./graph.ts";
import type { GateDecision, JobEnd, JobEndStatus } from "./job-end.ts";
import { isLeasedJob, type JobView, type Need } from "./job-view.ts";
import { roomsOf, smallest } from "./rooms.ts";

/** A cancel of a whole build, by a person or by its deadline (milliseconds since 1970). */
export interface Cancel {
  at: number;
  /** Jobs that clean up may run until then. */
  until: number;
  isTimeout: boolean;
}

/**
 * The rules of builds and their jobs, each with a name and in one line. The simulation replaces one at a time by a
 * wrong one.
 */
export interface JobRules {
  /** Whether all that the job needs has ended. */
  isReady(needs: readonly Need[], job: GraphJob): boolean;
  /** Whether success() holds as far as this need goes. */
  good(need: JobView, isOptional: boolean): boolean;
  /** Whether failure() holds for this need. */
  isFailure(need: JobView): boolean;
  /** How a job ends that its needs keep from running. */
  endsAs(inTheWay: readonly JobView[]): Extract<JobEndStatus, "skipped" | "dropped">;
  gateIsOpen(gate: Gated, now: number): boolean;
  /** Whether the gate stays closed for good. */
  gateIsOver(gate: Gated, now: number): boolean;
  /** Whether this decision is the gate's first, in time, by somebody who may. */
  mayDecide(gate: Gated, now: number): boolean;
  mayApprove(role: Role, by: Role): boolean;
  /** Whether the same word was said before. */
  isSameDecision(known: GateDecision, approved: boolean): boolean;
  /** Whether a cancel of the build reaches the job, now. */
  stops(isSpared: boolean, cancel: Cancel, now: number): boolean;
  /** Whether the end of this job may end others. */
  tripsFailFast(job: JobView): boolean;
  /** Whether the job ends because that one failed. */
  isInCircle(job: JobView, failed: JobView, ofFile: boolean, isSpared: boolean): boolean;
  buildIsOver(jobs: readonly JobView[]): boolean;
  buildOutcome(jobs: readonly JobView[], cancel: Cancel | null): EndedStatus;
  /** Whether the build counts for its pipeline's limit: from its first lease until nothing of it is ready or leased. */
  holdsPlace(holds: boolean, jobs: readonly JobView[]): boolean;
  roomsOf(job: GraphJob, build: Parameters<typeof roomsOf>[1]): ReturnType<typeof roomsOf>;
  /** The limit of a room where those who are in it, or want to be, name several. */
  roomLimit(limits: readonly number[]): number;
  /** What comes of a plan for a build that may have one: both by the hash of their texts. */
  planAccepted(known: string | null, sent: string): "accept" | "same" | "refuse";
  /** Whether the outputs that came under this fence are the job's. */
  winner(end: Pick<JobEnd, "status" | "fence">, fence: number): boolean;
  /** Whether a retry of what failed runs this job anew, which depends on these. */
  runsAnew(end: { status: JobStatus } | null, needsRunAnew: boolean): boolean;
}

export const JOB_RULES: JobRules = {
  isReady: (needs) => needs.every(({ view }) => view.end !== null),
  good: ({ status, job }, isOptional) =>
    status === "succeeded" || (status === "failed" && job.mayFail) || (status === "skipped" && isOptional),
  isFailure: ({ status, job, end }) =>
    (status === "failed" && !job.mayFail) || (status === "dropped" && end?.cause?.kind === "need-failed"),
  endsAs: (inTheWay) => (inTheWay.every(({ status }) => status === "skipped") ? "skipped" : "dropped"),
  gateIsOpen: ({ decision }) => decision?.approved === true,
  gateIsOver: ({ decision, until }, now) => decision?.approved === false || (decision === null && now >= until),
  mayDecide: ({ decision, until }, now) => decision === null && now < until,
  mayApprove: includesRole,
  isSameDecision: (known, approved) => known.approved === approved,
  stops: (isSpared, { until }, now) => !isSpared || now >= until,
  tripsFailFast: ({ status, job }) => status === "failed" && !job.mayFail,
  isInCircle: ({ job }, failed, ofFile, isSpared) =>
    (ofFile && !isSpared) || (failed.job.failFast && failed.job.definition === job.definition),
  buildIsOver: (jobs) => jobs.every(({ end }) => end !== null),
  buildOutcome: (jobs, cancel) => {
    if (cancel) return cancel.isTimeout ? "failed" : "canceled";
    if (jobs.some(({ status, job }) => status === "failed" && !job.mayFail)) return "failed";
    return jobs.some(({ status }) => status === "canceled") ? "canceled" : "succeeded";
  },
  holdsPlace: (holds, jobs) => jobs.some(isLeasedJob) || (holds && jobs.some(({ status }) => status === "queued")),
  roomsOf,
  roomLimit: smallest,
  planAccepted: (known, sent) => (known === null ? "accept" : known === sent ? "same" : "refuse"),
  winner: ({ status, fence }, from) => status === "succeeded" && fence === from,
  runsAnew: (end, needsRunAnew) => needsRunAnew || (end?.status !== "succeeded" && end?.status !== "skipped"),
};
