import { builtToday, type PoolEvents } from "./counts.ts";
import { BUILD_CHANNELS } from "./facts.ts";
import type { PoolState } from "./state.ts";

/** What only the disk knows. */
export interface DiskNumbers {
  deadLetters: number;
  databaseBytes: number;
  /** Of artifacts and caches in the archive. */
  storedBytes: number;
  /** Whether rows that are past their retention are left: the next sweep deletes more of them. */
  hasOldRows: boolean;
  /** When the oldest entry of the audit, or close of a log, was made that is not delivered yet. */
  pendingSince: number | null;
}

/** What a pool answers to each sweep, for the metrics of the whole deployment. */
export interface PoolNumbers extends PoolEvents, Omit<DiskNumbers, "pendingSince"> {
  /** Builds that have not ended, and jobs that wait for an agent. */
  active: number;
  waiting: number;
  oldestWaitSeconds: number;
  /** Age of the oldest change that D1, the archive, a log or a git host's object has not heard of; 0 where there is none. */
  outboxSeconds: number;
  /** Attempts in a row that did not deliver everything. */
  outboxFailures: number;
  /** Builds that were made today (UTC). */
  buildsToday: number;
  /** How many may be, and bytes in the archive: absent while the pool has not read it from D1. */
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
