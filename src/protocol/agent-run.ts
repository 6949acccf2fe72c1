import type { JobStatus } from "./build-job.ts";

/** A job that an agent ran. Times are milliseconds since 1970. */
export interface AgentRun {
  agentId: string;
  buildId: string;
  /** Null for a first job, which has the build's id. */
  jobId: string | null;
  /** Key of that job; null too where its plan cannot be read. */
  jobKey: string | null;
  /** Of the build. */
  number: number;
  pipelineId: string | null;
  status: JobStatus;
  startedAt: number;
  /** Null while it runs. */
  finishedAt: number | null;
}

/** For how long the pages show what agents ran. */
export const RUNS_MS = 60 * 60 * 1000;
/** At most so many of a page. */
export const MOST_RUNS = 2_000;
