/*
 * The numbers and state transitions of the invariants, deliberately written a second time: the checks use none of the
 * machine's own rules.
 */

export const DAY_MS = 24 * 60 * 60 * 1000;
export const AGENT_MS = 90 * DAY_MS;
/** Share of AGENT_MS after which an agent may be forgotten, because an eviction can lose its latest contacts. */
export const FORGET_TOLERANCE = 0.7;
export const ONLINE_MS = 90_000;
export const START_MS = 30_000;
export const LEASE_MS = 60_000;
/** If a deadline is overdue by more than this, the service missed it, not the agent. */
export const OUTAGE_MS = 5_000;
/**
 * The stored state of a lease that a socket keeps is never older than this. Shorter than in reality, because histories
 * are short.
 */
export const STORED_FOR_MS = 20_000;
export const STOP_AGAIN_MS = 15_000;
/** An absent ephemeral agent is kept for an hour. An eviction can lose its last minute. */
export const EPHEMERAL_AWAY_MS = 59 * 60_000;
export const OFFER_MS = 2_000;
/**
 * How long nothing is handed out after hand-outs that failed for all builds: twice as long each time, up to the second
 * value.
 */
export const FIRST_PAUSE_MS = 1_000;
export const MOST_PAUSE_MS = 60_000;
export const GRACE_AFTER_STOP_MS = 5 * 60_000;
export const UNRESPONSIVE_MS = 10 * 60_000;
/** How long deliveries and heads of refs are remembered. */
export const HEARD_MS = 4 * DAY_MS;
export const MAX_UNSTARTED = 20;
/** Milliseconds by which a pool may check a lease late. */
export const LEASE_GRID = 5_000;

/** Transitions of a job. */
export const TRANSITIONS: Record<string, readonly string[]> = {
  waiting: ["queued", "succeeded", "failed", "canceled", "skipped", "dropped"],
  queued: ["assigned", "canceled"],
  assigned: ["running", "queued", "canceling", "failed"],
  running: ["succeeded", "failed", "queued", "canceling"],
  canceling: ["canceled"],
};

export const isLeased = (status: string): boolean =>
  status === "assigned" || status === "running" || status === "canceling";
export const isEnded = (status: string): boolean => status !== "waiting" && status !== "queued" && !isLeased(status);
