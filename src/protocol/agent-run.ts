import type { JobStatus } from "./build-job.ts";

/** What an agent ran: a build, or one job of a build of several. Times are milliseconds since 1970. */
export interface AgentRun {
  agentId: string;
  buildId: string;
  /** Null where the build is one job. */
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
