import type { BuildReason } from "../../protocol/build.ts";
import type { TestSummary } from "../../protocol/test-report.ts";
import type { Role } from "../../protocol/token.ts";

/** Why an agent has to stop a job before its time is over. */
export type StopReason = Extract<BuildReason, "canceled" | "fail-fast" | "superseded">;

/** Why a job ended without a result of its own. */
export interface JobCause {
  /**
   * `condition`: its own `if` was false. `need-skipped`, `need-failed`, `need-canceled`: what the named job became.
   * `fail-fast`: the named job failed. `canceled`: a person, or a newer head, canceled the build or the job.
   */
  kind: "condition" | "need-skipped" | "need-failed" | "need-canceled" | "fail-fast" | "canceled" | "gate";
  /** Key of the job that is meant. */
  job: string | null;
  /** The condition, or what a person said. */
  text: string | null;
}

export type JobEndStatus = "succeeded" | "failed" | "canceled" | "skipped" | "dropped";

export interface JobEnd {
  status: JobEndStatus;
  cause: JobCause | null;
  exitCode: number | null;
  reason: BuildReason | null;
  message: string | null;
  startedAt: number | null;
  finishedAt: number;
  agentId: string | null;
  attempt: number;
  /** Failed tries that another one followed. Absent where there were none. */
  retries?: number;
  /** What its test reports said. Absent where there were none. */
  tests?: TestSummary;
  /** Of the lease under which the result came; 0 where there was none. Outputs count under this fence alone. */
  fence: number;
  /** The job of an earlier build, which the build repeats, that this result was taken from. */
  adopted?: { buildId: string; jobId: string; fence: number };
}

/** One decision of a person on a gate. */
export interface GateDecision {
  approved: boolean;
  at: number;
  /** The caller, for the audit. */
  actor: string;
  /** Who it was, for people. */
  name: string;
  role: Role;
  comment: string | null;
}
