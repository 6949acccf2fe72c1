import type { BuildReason } from "../../protocol/build.ts";
import type { TestSummary } from "../../protocol/test-report.ts";
import type { Role } from "../../protocol/token.ts";

/** The reason why an agent must stop a job early. */
export type StopReason = Extract<BuildReason, "canceled" | "fail-fast" | "superseded">;

/** The reason why a job ended without its own result. */
export interface JobCause {
  /**
   * `condition` means that the job's own `if` was false. `need-skipped`, `need-failed` and `need-canceled` mean the end
   * of the named job. `fail-fast` means that the named job failed. `canceled` means that a person, or a newer head,
   * canceled the build or the job.
   */
  kind: "condition" | "need-skipped" | "need-failed" | "need-canceled" | "fail-fast" | "canceled" | "gate";
  /** The key of the job that caused this end. */
  job: string | null;
  /** The condition, or the text from a person. */
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
  /** Failed tries before the last one. Absent without failed tries. */
  retries?: number;
  /** The summary of the job's test reports. Absent without reports. */
  tests?: TestSummary;
  /** The fence of the lease that sent the result; 0 without a lease. Outputs count only under this fence. */
  fence: number;
  /** If the build is a retry, the job of an earlier build whose result this is. */
  adopted?: { buildId: string; jobId: string; fence: number };
}

/** One decision of a person on a gate. */
export interface GateDecision {
  approved: boolean;
  at: number;
  /** The caller, for the audit. */
  actor: string;
  /** The name of the person, for people. */
  name: string;
  role: Role;
  comment: string | null;
}
