import { builtToday, type PoolEvents } from "./counts.ts";
import { BUILD_CHANNELS } from "./facts.ts";
import type { PoolState } from "./state.ts";

/** Numbers that only the disk has. */
export interface DiskNumbers {
  deadLetters: number;
  databaseBytes: number;
  /** The bytes of artifacts and caches in the archive. */
  storedBytes: number;
  /** Whether rows past their retention are left. The next sweep deletes more of these rows. */
  hasOldRows: boolean;
  /** When the oldest undelivered audit entry or log close was created. */
  pendingSince: number | null;
}

/** A pool's answer to each sweep, for the whole deployment's metrics. */
export interface PoolNumbers extends PoolEvents, Omit<DiskNumbers, "pendingSince"> {
  /** The number of builds that have not ended, and the number of jobs that wait for an agent. */
  active: number;
  waiting: number;
  oldestWaitSeconds: number;
  /**
   * The age of the oldest change that D1, the archive, a log or a git host's object does not have yet; 0 if they have
   * all.
   */
  outboxSeconds: number;
  /** Consecutive attempts that did not deliver everything. */
  outboxFailures: number;
  /** The number of builds that callers created today (UTC). */
  buildsToday: number;
  /** The limits on builds per day and on bytes in the archive; absent until the pool has read them from D1. */
  buildsPerDay?: number;
  mostStoredBytes?: number;
}

export const toPoolNumbers = (
  state: PoolState,
  { now, buildsPerDay, mostStoredBytes }: { now: number; buildsPerDay: number; mostStoredBytes: number },
  { pendingSince, ...disk }: DiskNumbers,
): PoolNumbers => {
  const channels = BUILD_CHANNELS.map((channel) => state.outbox[channel]);
  const since = Math.min(pendingSince ?? now, ...channels.map(({ due }) => due.values().next().value ?? now));
  return {
    ...state.events,
    ...disk,
    active: state.builds.size,
    waiting: state.queue.size,
    buildsToday: builtToday(state, now),
    ...(state.unchecked === null && { buildsPerDay, mostStoredBytes }),
    oldestWaitSeconds: oldestWait(state, now),
    outboxSeconds: Math.max(0, (now - since) / 1000),
    outboxFailures: Math.max(...channels.map(({ failures }) => failures)),
  };
};

const oldestWait = (state: PoolState, now: number): number => {
  let oldest = now;
  for (const { status, queuedAt } of state.jobs.values())
    if (status === "queued" && queuedAt !== null) oldest = Math.min(oldest, queuedAt);
  return (now - oldest) / 1000;
};
