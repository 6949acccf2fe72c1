/* The numbers and words of the invariants, written down a second time: nothing here asks the machine's rules. */

export const DAY_MS = 24 * 60 * 60 * 1000;
export const AGENT_MS = 90 * DAY_MS;
/** The part of it after which an agent may be forgotten: what a crash takes of its signs of life is the rest. */
export const SURE_PART = 0.7;
export const ONLINE_MS = 90_000;
export const START_MS = 30_000;
export const LEASE_MS = 60_000;
/** Overdue by more, a deadline was missed by the service and not by the agent. */
export const OUTAGE_MS = 5_000;
export const OFFER_MS = 2_000;
export const GRACE_AFTER_STOP_MS = 5 * 60_000;
export const UNRESPONSIVE_MS = 10 * 60_000;
export const UNSTARTED = 20;

export const EDGES: Record<string, readonly string[]> = {
  queued: ["assigned", "canceled"],
  assigned: ["running", "queued", "canceling", "failed"],
  running: ["succeeded", "failed", "queued", "canceling"],
  canceling: ["canceled"],
};

export const isLeased = (status: string): boolean => ["assigned", "running", "canceling"].includes(status);
export const isEnded = (status: string): boolean => !(status in EDGES);
