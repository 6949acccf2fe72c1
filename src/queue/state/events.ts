import type { BuildReason } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";

/** Why a lease ended without a result. */
export type LossCause = "expired" | "removed" | "restarted" | "stopped";

/** What happened in a pool since it answered a sweep last. Kept in memory only: an eviction loses it. */
export interface PoolEvents {
  ended: { status: EndedStatus; reason: BuildReason | null; count: number }[];
  leasesLost: Record<LossCause, number>;
  /** Jobs that went back into the queue. */
  requeues: number;
  handOuts: number;
  /** Offers that a waiting agent did not take in time. */
  offersIgnored: number;
}

export const noEvents = (): PoolEvents => ({
  ended: [],
  leasesLost: { expired: 0, removed: 0, restarted: 0, stopped: 0 },
  requeues: 0,
  handOuts: 0,
  offersIgnored: 0,
});

export const countEnd = ({ ended }: PoolEvents, status: EndedStatus, reason: BuildReason | null): void => {
  const row = ended.find((other) => other.status === status && other.reason === reason);
  if (row) row.count += 1;
  else ended.push({ status, reason, count: 1 });
};
