import { addHistograms, type DayOfBuilds, dayStart, type History, percentile } from "./history.ts";

const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;

/** What seven days of builds were like. Times are milliseconds; null where no build of theirs began. */
export interface Week {
  succeeded: number;
  failed: number;
  canceled: number;
  flaky: number;
  /** What half of the builds took at most, and nine in ten. */
  tookP50: number | null;
  tookP90: number | null;
  waitedP50: number | null;
  waitedP90: number | null;
}

/** Adds up days of any pipelines. */
export const addUp = (days: readonly DayOfBuilds[]): Week => {
  const took = addHistograms(days.map((day) => day.took));
  const waited = addHistograms(days.map((day) => day.waited));
  const sum = (count: (day: DayOfBuilds) => number) => days.reduce((all, day) => all + count(day), 0);
  return {
    succeeded: sum((day) => day.succeeded),
    failed: sum((day) => day.failed),
    canceled: sum((day) => day.canceled),
    flaky: sum((day) => day.flaky),
    tookP50: percentile(took, 0.5),
    tookP90: percentile(took, 0.9),
    waitedP50: percentile(waited, 0.5),
    waitedP90: percentile(waited, 0.9),
  };
};

/** The days of the week that ends with today; `weeksAgo` 1 is the one before. */
export const daysOfWeek = ({ days }: History, now: number, weeksAgo = 0): DayOfBuilds[] => {
  const next = dayStart(now) + DAY_MS - weeksAgo * DAYS_OF_WEEK * DAY_MS;
  return Object.entries(days).flatMap(([date, day]) => {
    const at = Date.parse(date);
    return at < next && at >= next - DAYS_OF_WEEK * DAY_MS ? [day] : [];
  });
};
