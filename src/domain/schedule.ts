import { Cron } from "croner";
import { HOUR_MS } from "../protocol/units.ts";

/** The minimum number of minutes between two runs. */
export const SMALLEST_STEP_MINUTES = 5;

interface Field {
  name: string;
  from: number;
  to: number;
  /** Names of the field's values. The first name means `from`. */
  names: string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/** The seventh day of the week is Sunday, too. */
const FIELDS: Field[] = [
  { name: "minute", from: 0, to: 59, names: [] },
  { name: "hour", from: 0, to: 23, names: [] },
  { name: "day of the month", from: 1, to: 31, names: [] },
  { name: "month", from: 1, to: 12, names: MONTHS },
  { name: "day of the week", from: 0, to: 7, names: [...DAYS, "SUN"] },
];
/** The most days that each month can have. */
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const PART = /^(?:(\*)|([0-9]{1,2}|[A-Z]{3})(?:-([0-9]{1,2}|[A-Z]{3}))?)(?:\/([0-9]{1,2}))?$/;

const readNumber = (text: string, { from, to, names }: Field, isEnd: boolean): number | null => {
  const name = isEnd ? names.lastIndexOf(text) : names.indexOf(text);
  const value = name >= 0 ? name + from : /^[0-9]+$/.test(text) ? Number(text) : -1;
  return value >= from && value <= to ? value : null;
};

/**
 * Reads one part of a list: `*`, `5` or `1-5`, where `*` and `1-5` may have a step such as `/2`. Returns null for
 * anything else.
 */
const readValues = (part: string, field: Field): number[] | null => {
  const [, star, first, last, step] = PART.exec(part) ?? [];
  if (star === undefined && first === undefined) return null;
  if (step !== undefined && star === undefined && last === undefined) return null;
  const from = first === undefined ? field.from : readNumber(first, field, false);
  const to = last === undefined ? (first === undefined ? field.to : from) : readNumber(last, field, true);
  const by = step === undefined ? 1 : Number(step);
  if (from === null || to === null || from > to || by === 0) return null;
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);
};

const readField = (text: string, field: Field): Set<number> | null => {
  const parts = text.split(",").map((part) => readValues(part, field));
  return parts.includes(null) ? null : new Set(parts.flatMap((values) => values ?? []));
};

const smallestStep = (minutes: Set<number>, hours: Set<number>): number => {
  const sorted = [...minutes].sort((a, b) => a - b);
  const inHour = sorted.slice(1).map((minute, index) => minute - sorted[index]!);
  const hasNextHour = [...hours].some((hour) => hours.has((hour + 1) % 24));
  return Math.min(...inHour, hasNextHour ? 60 + sorted[0]! - sorted.at(-1)! : 60);
};

/** Reports whether the date never occurs. If the day of the week is sufficient on its own, the date always occurs. */
const neverComes = (days: Set<number>, months: Set<number>, weekdays: string): boolean =>
  weekdays.startsWith("*") && ![...months].some((month) => [...days].some((day) => day <= DAYS_OF_MONTH[month - 1]!));

const numbers = (values: Set<number>): string => [...values].sort((a, b) => a - b).join(",");

/** Prints a line. Keeps `*`, which means any time rather than each time. For hours, also keeps a step of `*`. */
const printLine = (texts: string[], values: Set<number>[]): string =>
  texts
    .map((text, index) => (text === "*" || (index === 1 && text.startsWith("*")) ? text : numbers(values[index]!)))
    .join(" ");

interface CronLine {
  /** An equivalent of the original line that consists of digits and `*`. */
  line: string;
  /**
   * Whether a day must match both day fields. As in Vixie's cron, one matching field is enough unless a field begins
   * with `*`.
   */
  needsBothDays: boolean;
}

/** Reads a cron line of five fields. If the line has a problem, returns a sentence that says what to write. */
export const readCron = (cron: string): CronLine | { problem: string } => {
  const texts = cron
    .toUpperCase()
    .split(/[ \t]+/)
    .filter((text) => text !== "");
  if (cron.length > 200) return { problem: "A schedule must have at most 200 characters" };
  if (texts[0]?.startsWith("@"))
    return { problem: "Write the five fields: minute, hour, day of the month, month, day of the week" };
  if (texts.length !== FIELDS.length) {
    const more = texts.length > FIELDS.length ? "; leave out seconds and years, and write the zone in `time-zone`" : "";
    return { problem: `A schedule has five fields: minute, hour, day of the month, month, day of the week${more}` };
  }
  const values: Set<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const read = readField(texts[index]!, field);
    if (!read)
      return {
        problem: `The ${field.name} must be *, numbers or names from ${field.from} to ${field.to}, ranges such as 1-5, steps such as */5 or 10-50/5, with commas between them`,
      };
    values.push(read);
  }
  const [minutes, hours, days, months] = values as [Set<number>, Set<number>, Set<number>, Set<number>];
  if (neverComes(days, months, texts[4]!)) return { problem: "This date never occurs: its months have fewer days" };
  if (smallestStep(minutes, hours) < SMALLEST_STEP_MINUTES)
    return { problem: `There must be at least ${SMALLEST_STEP_MINUTES} minutes between two runs` };
  return { line: printLine(texts, values), needsBothDays: texts[2]!.startsWith("*") || texts[4]!.startsWith("*") };
};

/** The times at which something runs: a cron line of five fields, and the time zone of its hours. */
export interface CronSchedule {
  cron: string;
  timeZone: string;
}

/** Zones have names only, because an offset such as `+02:00` would stay the same in summer and in winter. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** Returns why a text is not a time zone, as a sentence that says what to write; null if the text is a time zone. */
export const timeZoneProblem = (timeZone: string): string | null => {
  const problem = "Unknown time zone: write a name such as Europe/Berlin or UTC";
  if (!ZONE_NAME.test(timeZone)) return problem;
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return null;
  } catch (error) {
    if (error instanceof RangeError) return problem;
    throw error;
  }
};

/** @throws {Error} for a schedule with a problem, according to `readCron` or `timeZoneProblem` */
const compileSchedule = ({ cron, timeZone }: CronSchedule): ((after: number) => number) => {
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
 * Returns the first time after `after`, both in milliseconds since 1970. Fixed hours run once on each day that has
 * them: at the first minute after a gap of the clock, and at the first of two equal times. With `*` as the hours, real
 * time counts.
 * @throws {Error} for a schedule with a problem, according to `readCron` or `timeZoneProblem`
 */
export const nextRun = (schedule: CronSchedule, after: number): number => compileSchedule(schedule)(after);

/** Returns the next `count` times after `after`, as `nextRun` computes them. */
export const nextRuns = (schedule: CronSchedule, after: number, count: number): number[] => {
  const timeAfter = compileSchedule(schedule);
  const times: number[] = [];
  while (times.length < count) times.push(timeAfter(times.at(-1) ?? after));
  return times;
};

/**
 * Returns the last time up to `until`. `first` is one of the schedule's times and not after `until`. The service makes
 * up only for this missed time, and not for earlier ones. The search looks back an hour first, then ten times as far
 * each time.
 */
export const lastRun = (schedule: CronSchedule, first: number, until: number): number => {
  const timeAfter = compileSchedule(schedule);
  const fromThere = (start: number): number => {
    let time = start;
    for (let next = timeAfter(time); next <= until; next = timeAfter(time)) time = next;
    return time;
  };
  for (let back = HOUR_MS; until - back > first; back *= 10) {
    const candidate = timeAfter(until - back);
    if (candidate <= until) return fromThere(candidate);
  }
  return fromThere(first);
};
