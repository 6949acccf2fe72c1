import type { BuildReason } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { withCommas } from "../../protocol/limits.ts";
import { DAY_MS, SECOND_MS } from "../../protocol/units.ts";

/** Builds that were made on one day (UTC, days since 1970). */
export interface DayCount {
  day: number;
  builds: number;
}

export const NO_BUILDS: DayCount = { day: 0, builds: 0 };

export const toDayNumber = (at: number): number => Math.floor(at / DAY_MS);

/** What the row of a build says: how many there were when it was made. Rows of older releases say nothing. */
export const toDayCount = ({ ofDay = 0, queuedAt }: { ofDay?: number; queuedAt: number }): DayCount => ({
  day: toDayNumber(queuedAt),
  builds: ofDay,
});

export const laterCount = (one: DayCount, other: DayCount): DayCount =>
  other.day > one.day || (other.day === one.day && other.builds > one.builds) ? other : one;

/** Builds of today. A clock that was set back gives no second day. */
export const builtToday = ({ dayCount }: { dayCount: DayCount }, now: number): number =>
  dayCount.day < toDayNumber(now) ? 0 : dayCount.builds;

/** Why the day has no room for one more build than `added`; null where it has. */
export const dayProblem = (
  state: { dayCount: DayCount },
  added: number,
  { now, buildsPerDay }: { now: number; buildsPerDay: number },
): string | null => {
  const count = builtToday(state, now) + added;
  if (count < buildsPerDay) return null;
  return `Builds of this organization today: ${withCommas(count)} of ${withCommas(buildsPerDay)}. Wait until 00:00 UTC, or ask the operator of this service to raise buildsPerDay.`;
};

export const secondsUntilTomorrow = (now: number): number =>
  Math.ceil(((toDayNumber(now) + 1) * DAY_MS - now) / SECOND_MS);

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
