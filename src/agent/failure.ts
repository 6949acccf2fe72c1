import type { BuildReason } from "../protocol/build.ts";
import type { Heartbeat } from "../protocol/jobs.ts";
import type { Requires } from "../protocol/pipeline.ts";

/** `interrupted` is the agent's own: it is to end now, and the build is for its next attempt. */
export type CancelReason = NonNullable<Heartbeat["reason"]> | "interrupted";

/** A build that ends other than by its steps' own result; `message` is for the person whose build it is. */
export class BuildFailure extends Error {
  readonly reason: BuildReason;
  constructor(reason: BuildReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** What failed here may succeed on another agent, if there is one. */
export class TryElsewhere extends BuildFailure {}

/** This agent does not have what the pipeline file requires: the build is for another one. */
export class RequirementsNotMet extends Error {
  readonly requires: Requires;
  constructor(message: string, requires: Requires) {
    super(message);
    this.requires = requires;
  }
}

/** The build is to stop before its end, and why; `limit` is the time limit that the agent itself saw run out, in seconds. */
export class Cancel extends Error {
  readonly reason: CancelReason;
  readonly limit: number | undefined;
  constructor(reason: CancelReason, limit?: number) {
    super(`stopped: ${reason}`);
    this.reason = reason;
    this.limit = limit;
  }
}

const LOCAL: Record<string, string> = {
  ENOSPC: "the agent's disk is full: free some space, or move its work folder with --work",
  EDQUOT: "the disk quota of the agent's user is used up: free some space, or move its work folder with --work",
  EROFS: "the agent's work folder is on a read-only disk",
  EACCES: "the agent may not write to its work folder",
  EMFILE: "the agent has too many files open: raise its limit (ulimit -n)",
  ENOMEM: "the agent's machine is out of memory",
};

/** What went wrong on the agent's own machine, in words a person can act on. */
export const toBuildFailure = (error: unknown): BuildFailure => {
  if (error instanceof BuildFailure) return error;
  const { code, path, message } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : LOCAL[code];
  if (known) return new BuildFailure("agent-error", path ? `${known} (${path})` : known);
  return new BuildFailure("agent-error", `the agent failed: ${message ?? "unknown error"}`);
};
