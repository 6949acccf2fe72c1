import { withCommas } from "../../protocol/limits.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Builds that were made on one day (UTC, days since 1970). */
export interface DayCount {
  day: number;
  builds: number;
}

export const NO_BUILDS: DayCount = { day: 0, builds: 0 };

export const dayNumberOf = (at: number): number => Math.floor(at / DAY_MS);

/** What the row of a build says: how many there were when it was made. Rows of older releases say nothing. */
export const countOf = ({ ofDay = 0, queuedAt }: { ofDay?: number; queuedAt: number }): DayCount => ({
  day: dayNumberOf(queuedAt),
  builds: ofDay,
});

export const laterCount = (one: DayCount, other: DayCount): DayCount =>
  other.day > one.day || (other.day === one.day && other.builds > one.builds) ? other : one;

/** Builds of today. A clock that was set back gives no second day. */
export const builtToday = ({ dayCount }: { dayCount: DayCount }, now: number): number =>
  dayCount.day < dayNumberOf(now) ? 0 : dayCount.builds;

/** Why the day has no room for one more build than `added`; null where it has. */
export const dayProblem = (
  state: { dayCount: DayCount },
  added: number,
  { now, buildsPerDay }: { now: number; buildsPerDay: number },
): string | null => {
  const made = builtToday(state, now) + added;
  if (made < buildsPerDay) return null;
  return `Builds of this organization today: ${withCommas(made)} of ${withCommas(buildsPerDay)}. Wait until 00:00 UTC, or ask the operator of this service to raise buildsPerDay.`;
};

export const secondsUntilTomorrow = (now: number): number => Math.ceil(((dayNumberOf(now) + 1) * DAY_MS - now) / 1000);
