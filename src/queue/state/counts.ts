import type { BuildReason } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { withCommas } from "../../protocol/limits.ts";
import { DAY_MS, SECOND_MS } from "../../protocol/units.ts";

/** The number of builds that were created on one day (UTC, days since 1970). */
export interface DayCount {
  day: number;
  builds: number;
}

export const NO_BUILDS: DayCount = { day: 0, builds: 0 };

export const toDayNumber = (at: number): number => Math.floor(at / DAY_MS);

/** Returns the day's count from a build's row, as of the build's creation. Rows of older releases have no count. */
export const toDayCount = ({ ofDay = 0, queuedAt }: { ofDay?: number; queuedAt: number }): DayCount => ({
  day: toDayNumber(queuedAt),
  builds: ofDay,
});

export const laterCount = (one: DayCount, other: DayCount): DayCount =>
  other.day > one.day || (other.day === one.day && other.builds > one.builds) ? other : one;

/** Returns the number of today's builds. If the clock was set back, it starts no second day. */
export const builtToday = ({ dayCount }: { dayCount: DayCount }, now: number): number =>
  dayCount.day < toDayNumber(now) ? 0 : dayCount.builds;

/** Returns why the day has no room for another build after `added` builds, or null if it has room. */
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

/** The reason why a lease ended without a result. */
export type LossCause = "expired" | "removed" | "restarted" | "stopped";

/** A pool's events since its last answered sweep. They are only in memory, so an eviction loses them. */
export interface PoolEvents {
  ended: { status: EndedStatus; reason: BuildReason | null; count: number }[];
  leasesLost: Record<LossCause, number>;
  /** The number of jobs that returned to the queue. */
  requeues: number;
  handOuts: number;
  /** The number of offers that a waiting agent did not follow in time. */
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
