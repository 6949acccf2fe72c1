import * as z from "zod/mini";

/**
 * The phase of a state in a build's life. `queued` means that an agent may claim the build. `leased` means that one
 * agent holds its lease. `ended` means that the build no longer changes. A build is active until it has ended.
 */
export type Phase = "queued" | "leased" | "ended";

interface StateRow {
  phase: Phase;
  /** What a build in this state does. The API's description prints it after the state. */
  meaning: string;
}

/** The states of builds and of their jobs. Types, SQL, rules, metrics and pages derive from these rows. */
export const BUILD_STATES = {
  queued: { phase: "queued", meaning: "waits in the queue for an agent" },
  assigned: { phase: "leased", meaning: "was handed out to an agent that has not started it yet" },
  running: { phase: "leased", meaning: "runs on its agent" },
  canceling: { phase: "leased", meaning: "was canceled, and its agent is stopping it" },
  succeeded: { phase: "ended", meaning: "ran to its end and succeeded" },
  failed: { phase: "ended", meaning: "failed at a step, or for the cause in `reason`" },
  canceled: { phase: "ended", meaning: "was canceled before it finished" },
} as const satisfies Record<string, StateRow>;

export type BuildStatus = keyof typeof BUILD_STATES;
type StatusIn<P extends Phase> = {
  [Status in BuildStatus]: (typeof BUILD_STATES)[Status]["phase"] extends P ? Status : never;
}[BuildStatus];
type QueuedStatus = StatusIn<"queued">;
export type LeasedStatus = StatusIn<"leased">;
export type EndedStatus = StatusIn<"ended">;
export type ActiveStatus = Exclude<BuildStatus, EndedStatus>;

export const STATUSES = Object.keys(BUILD_STATES) as BuildStatus[];
export const BuildStatus = z.enum(STATUSES);

/*
 * Returns the phase of a status. A status of a newer release has no known phase. Such a build is active, but neither
 * queued nor leased.
 */
export const phaseOf = (status: BuildStatus): Phase => BUILD_STATES[status]?.phase;
export const isQueued = (status: BuildStatus): status is QueuedStatus => phaseOf(status) === "queued";
export const isLeased = (status: BuildStatus): status is LeasedStatus => phaseOf(status) === "leased";
export const isEnded = (status: BuildStatus): status is EndedStatus => phaseOf(status) === "ended";
export const isActive = (status: BuildStatus): status is ActiveStatus => !isEnded(status);

export const ACTIVE = STATUSES.filter(isActive);
export const LEASED = STATUSES.filter(isLeased);
export const ENDED = STATUSES.filter(isEnded);

/** The reason why a build or a job ended, if the result of its steps does not say so. */
export const BuildReason = z.enum([
  "agent-lost",
  "timeout",
  "environment",
  "requirements-unmet",
  "commit-not-on-branch",
  "pipeline-invalid",
  "checkout-failed",
  "agent-error",
  "plan-mismatch",
  "queue-full",
  "output-refused",
  "artifact-failed",
  "gate-closed",
  "canceled",
  "fail-fast",
  "superseded",
  "skipped",
]);
export type BuildReason = z.infer<typeof BuildReason>;
