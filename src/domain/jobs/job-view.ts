import type { JobStatus } from "../../protocol/build-job.ts";
import type { BuildStatus } from "../../protocol/build-states.ts";
import { groupBy } from "../group-by.ts";
import type { SeveralJobs } from "../pool/facts.ts";
import type { GraphJob, JobGraph } from "./graph.ts";
import type { JobCause, JobEnd, JobNode } from "./node.ts";

export interface BuildView {
  status: BuildStatus;
  several: SeveralJobs;
  supersededBy: string | null;
  message?: string | null;
}

export type EndOfJob = Pick<JobEnd, "status" | "cause" | "exitCode" | "reason" | "message" | "finishedAt">;

/** What the queue has of a job; null where it has nothing. */
export interface QueuedJob {
  status: "queued" | "assigned" | "running" | "canceling";
  startedAt: number | null;
  /** Failed tries that another one followed. */
  retries?: number | undefined;
}

/** One job as it stands, with what was ordered for it so far. */
export interface JobView {
  job: GraphJob;
  status: JobStatus;
  gate: JobNode["gate"];
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
  finishedAt: 0,
};

/** All jobs of a build, in the order of its graph. */
export const viewsOf = (
  graph: JobGraph,
  nodes: ReadonlyMap<string, JobNode>,
  inQueue: (jobId: string) => QueuedJob | null,
): JobView[] =>
  graph.jobs.map((job) => {
    const node = nodes.get(job.id);
    const end = node ? node.end : LOST;
    const queued = end ? null : inQueue(job.id);
    const status = end?.status ?? queued?.status ?? "waiting";
    const retries = (node?.end?.adopted ? 0 : (node?.end?.retries ?? queued?.retries)) ?? 0;
    return { job, status, gate: node?.gate ?? null, stopCause: node?.stopCause ?? null, retries, end };
  });

export const byDefinition = (views: readonly JobView[]): Map<string, JobView[]> =>
  groupBy(views, ({ job }) => job.definition);
