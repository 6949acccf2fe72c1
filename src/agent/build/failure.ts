import type { BuildReason } from "../../protocol/build.ts";
import type { Heartbeat } from "../../protocol/jobs.ts";
import type { Requires } from "../../protocol/pipeline.ts";

/**
 * `interrupted` means that the agent itself must stop now. The build then returns to the queue for its next attempt.
 */
export type CancelReason = NonNullable<Heartbeat["reason"]> | "interrupted";

/** A build that fails before its steps give a result. `message` is for the build's author. */
export class BuildFailure extends Error {
  readonly reason: BuildReason;
  constructor(reason: BuildReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A failure that may not occur on another agent. */
export class TryElsewhere extends BuildFailure {}

/** A failure whose cause and place the log already shows. */
export class ToldFailure extends BuildFailure {}

/** The pipeline file requires a feature that this agent lacks. */
export class RequirementsNotMet extends Error {
  readonly requires: Requires;
  constructor(message: string, requires: Requires) {
    super(message);
    this.requires = requires;
  }
}

/**
 * The reason why a build must stop early. `limit` is the time limit in seconds that the build reached on the agent's
 * clock.
 */
export class Cancel extends Error {
  readonly reason: CancelReason;
  readonly limit: number | undefined;
  constructor(reason: CancelReason, limit?: number) {
    super(`stopped: ${reason}`);
    this.reason = reason;
    this.limit = limit;
  }
}

const ADVICE: Record<string, string> = {
  ENOSPC: "the agent's disk is full: free some space, or move the work folder with --work",
  EDQUOT: "the disk quota of the agent's user is used up: free some space, or move the work folder with --work",
  EROFS: "the agent's work folder is on a read-only disk",
  EACCES: "the agent has no permission to write to its work folder",
  EMFILE: "the agent has too many files open: raise its limit (ulimit -n)",
  ENOMEM: "the agent's machine is out of memory",
};

/** Converts an error of this machine to a build failure, with advice for the agent's owner. */
export const toBuildFailure = (error: unknown): BuildFailure => {
  if (error instanceof BuildFailure) return error;
  const { code, path, message } = error as NodeJS.ErrnoException;
  const advice = code === undefined ? undefined : ADVICE[code];
  if (advice) return new BuildFailure("agent-error", path ? `${advice} (${path})` : advice);
  return new BuildFailure("agent-error", `the agent failed: ${message ?? "unknown error"}`);
};

/** The service rejected a test report. The build is unaffected. The message gives the reason. */
export class ReportNotTaken extends Error {}
