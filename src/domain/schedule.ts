import { Cron } from "croner";
import { readCron } from "./cron.ts";

/** When something runs: a cron line of five fields, and the zone in which its hours are meant. */
export interface CronSchedule {
  cron: string;
  timeZone: string;
}

/** Names only: an offset as `+02:00` would stay the same in summer and in winter. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** Why a text is no time zone, as a sentence that says what to write; null when it is one. */
export const timeZoneProblem = (timeZone: string): string | null => {
  const problem = "There is no such time zone: write a name as Europe/Berlin or UTC";
  if (!ZONE_NAME.test(timeZone)) return problem;
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return null;
  } catch (error) {
    if (error instanceof RangeError) return problem;
    throw error;
  }
};

/** @throws {Error} for a schedule of which `readCron` or `timeZoneProblem` tells a problem */
const timesOf = ({ cron, timeZone }: CronSchedule): ((after: number) => number) => {
  const read = readCron(cron);
  if ("problem" in read) throw new Error("The schedule never runs");
  const { line, needsBothDays: domAndDow } = read;
  const times = new Cron(line, { mode: "5-part", timezone: timeZone, fixedTimeRule: "no-wildcard", domAndDow });
  return (after) => {
    const next = times.nextRun(new Date(after));
    if (!next) throw new Error("The schedule never runs");
    return next.getTime();
  };
};

/**
 * The first time after `after`, in milliseconds since 1970, as is `after`. Fixed hours run once on each day that has
 * them: at the first minute after a gap of the clock, the first time of two. With `*` hours real time counts.
 * @throws {Error} for a schedule of which `readCron` or `timeZoneProblem` tells a problem
 */
export const nextRun = (schedule: CronSchedule, after: number): number => timesOf(schedule)(after);

/** The next `count` times after `after`, as `nextRun` gives them. */
export const nextRuns = (schedule: CronSchedule, after: number, count: number): number[] => {
  const timeAfter = timesOf(schedule);
  const times: number[] = [];
  while (times.length < count) times.push(timeAfter(times.at(-1) ?? after));
  return times;
};

const HOUR_MS = 3_600_000;

/**
 * The last time until `until`, where `first` is one of its times and not after `until`: of all times that were missed,
 * the one that is made up for. Looks back an hour first, then ten times as far each time.
 */
export const lastRun = (schedule: CronSchedule, first: number, until: number): number => {
  const timeAfter = timesOf(schedule);
  const fromThere = (found: number): number => {
    let time = found;
    for (let next = timeAfter(time); next <= until; next = timeAfter(time)) time = next;
    return time;
  };
  for (let back = HOUR_MS; until - back > first; back *= 10) {
    const found = timeAfter(until - back);
    if (found <= until) return fromThere(found);
  }
  return fromThere(first);
};
