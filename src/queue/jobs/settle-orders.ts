import type { JobCause, JobEndStatus, StopReason } from "../../pipeline/graph/job-end.ts";
import type { BuildReason } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import type { BuildFacts } from "../state/facts.ts";

/** What of a build that has not ended follows from its jobs. */
export interface BuildProgress extends Pick<BuildFacts, "status" | "startedAt" | "holdsPlace"> {
  message: string | null;
}

export type Order =
  /** Its needs ended, its condition holds, its gate is open: the queue takes it. */
  | { kind: "queue"; jobId: string }
  /** Its gate asks from now on. */
  | { kind: "ask"; jobId: string; until: number }
  /** Of a job that the queue does not have. */
  | {
      kind: "end";
      jobId: string;
      status: JobEndStatus;
      cause: JobCause | null;
      reason: BuildReason | null;
      message: string | null;
    }
  /** A queued job ends canceled at once. */
  | { kind: "withdraw"; jobId: string; reason: StopReason; cause: JobCause }
  /** The agent of a leased job has to stop. */
  | { kind: "stop"; jobId: string; reason: StopReason; cause: JobCause }
  /** What follows for the build from jobs that have not all ended. */
  | ({ kind: "build" } & BuildProgress)
  | {
      kind: "end-build";
      status: EndedStatus;
      exitCode: number | null;
      reason: BuildReason | null;
      message: string | null;
    };

export type JobOrder = Extract<Order, { jobId: string }>;
