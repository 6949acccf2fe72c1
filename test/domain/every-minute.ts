import type { CronSchedule } from "../../src/domain/schedule.ts";

const MINUTE = 60_000;

interface Local {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
  /** In milliseconds of a clock without time zones. */
  clock: number;
}

/** Clocks change at a quarter of an hour, and computing the time on them is slow. */
const QUARTER = 15 * MINUTE;

const clocks = new Map<string, Intl.DateTimeFormat>();
const quarters = new Map<string, number>();

const localOf = (time: number, timeZone: string): Local => {
  const quarter = Math.floor(time / QUARTER) * QUARTER;
  const key = `${timeZone} ${quarter}`;
  const shown = quarters.get(key) ?? shownAt(quarter, timeZone);
  quarters.set(key, shown);
  return fieldsOf(shown + Math.floor((time - quarter) / MINUTE) * MINUTE);
};

/** Returns the time on the clocks of the zone, in milliseconds of a clock without time zones. */
const shownAt = (time: number, timeZone: string): number => {
  const options = {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  } as const;
  const clock = clocks.get(timeZone) ?? new Intl.DateTimeFormat("en", options);
  clocks.set(timeZone, clock);
  const parts = Object.fromEntries(clock.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year!, parts.month! - 1, parts.day, parts.hour, parts.minute);
};

const fieldsOf = (clock: number): Local => {
  const date = new Date(clock);
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
    clock,
  };
};

/** Reports whether a field of digits, `*`, ranges and steps has a value, in the simplest way. */
const has = (field: string, from: number, value: number): boolean =>
  field.split(",").some((part) => {
    const [range = "", step = "1"] = part.split("/");
    const [first = "", last = first] = range.split("-");
    if (range === "*") return (value - from) % Number(step) === 0;
    return value >= Number(first) && value <= Number(last) && (value - Number(first)) % Number(step) === 0;
  });

const isDue = (cron: string, local: Local): boolean => {
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = cron.split(" ");
  const isDay = has(day, 1, local.day);
  const isWeekday = has(weekday, 0, local.weekday) || (local.weekday === 0 && has(weekday, 0, 7));
  const isDate = day.startsWith("*") || weekday.startsWith("*") ? isDay && isWeekday : isDay || isWeekday;
  return has(minute, 0, local.minute) && has(hour, 0, local.hour) && has(month, 1, local.month) && isDate;
};

/**
 * Returns the times after `after` until `until`, by testing each minute. Disabling one of the `rules` shows that a test
 * notices a wrong reading.
 */
export const everyMinute = (
  { cron, timeZone }: CronSchedule,
  after: number,
  until: number,
  rules = { afterGaps: true, once: true },
): number[] => {
  const isFixed = !cron.split(" ")[1]!.startsWith("*");
  const times: number[] = [];
  let latest = localOf(after - 180 * MINUTE, timeZone).clock;
  for (let time = after - 179 * MINUTE; time <= until; time += MINUTE) {
    const local = localOf(time, timeZone);
    const isAgain = isFixed && rules.once && local.clock <= latest;
    let due = isDue(cron, local) && !isAgain;
    const skipped = isFixed && rules.afterGaps ? local.clock - latest : 0;
    for (let gone = MINUTE; gone < skipped; gone += MINUTE) due ||= isDue(cron, fieldsOf(latest + gone));
    latest = Math.max(latest, local.clock);
    if (due && time > after) times.push(time);
  }
  return times;
};
