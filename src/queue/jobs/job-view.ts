import { groupBy } from "../../domain/group-by.ts";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { JobCause, JobEnd } from "../../pipeline/graph/job-end.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import type { BuildFacts, Gated, JobFacts } from "../state/facts.ts";

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

/** A job whose row was lost counts as failed: whether it ran is unknown, so it must not run again. */
const LOST: EndOfJob = {
  status: "failed",
  cause: null,
  exitCode: null,
  reason: "agent-error",
  message: "What was stored of this job is damaged.",
  startedAt: null,
  finishedAt: 0,
};

const viewOf = (job: GraphJob, facts: JobFacts | undefined): JobView => {
  if (!facts)
    return {
      job,
      status: LOST.status,
      startedAt: null,
      message: null,
      gate: null,
      stopCause: null,
      retries: 0,
      end: LOST,
    };
  const { status, startedAt, message = null, gate = null, stopCause = null, end = null } = facts;
  const isAdopted = end?.adopted !== undefined;
  const retries = isAdopted ? 0 : (end?.retries ?? facts.retries ?? 0);
  return { job, status, startedAt, message, gate, stopCause, retries, end: end && { ...end, isAdopted } };
};

/** All jobs of a build, in the order of its graph. */
export const viewsOf = (graph: JobGraph, jobs: ReadonlyMap<string, JobFacts>): JobView[] =>
  graph.jobs.map((job) => viewOf(job, jobs.get(job.id)));

export const byDefinition = (views: readonly JobView[]): Map<string, JobView[]> =>
  groupBy(views, ({ job }) => job.definition);
