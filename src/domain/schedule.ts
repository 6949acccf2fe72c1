import { Cron } from "croner";
import { readCron } from "./cron.ts";

/** When something runs: a cron line of five fields, and the zone in which its hours are meant. */
export interface Schedule {
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

/**
 * The first time after `after`, in milliseconds since 1970, as is `after`. Fixed hours run once on each day that has
 * them: at the first minute after a gap of the clock, the first time of two. With `*` hours real time counts.
 * @throws {Error} for a schedule of which `cronProblem` or `timeZoneProblem` tells one
 */
export const nextRun = (schedule: Schedule, after: number): number => {
  const read = readCron(schedule.cron);
  const options = { mode: "5-part", timezone: schedule.timeZone, fixedTimeRule: "no-wildcard" } as const;
  const next = "line" in read ? new Cron(read.line, options).nextRun(new Date(after)) : null;
  if (!next) throw new Error("The schedule never runs");
  return next.getTime();
};

/** The next `count` times after `after`, as `nextRun` gives them. */
export const nextRuns = (schedule: Schedule, after: number, count: number): number[] => {
  const times: number[] = [];
  while (times.length < count) times.push(nextRun(schedule, times.at(-1) ?? after));
  return times;
};
