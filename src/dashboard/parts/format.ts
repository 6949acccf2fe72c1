import {
  DAY_MS as DAY,
  HOUR_MS as HOUR,
  KIB,
  MINUTE_MS as MINUTE,
  SECOND_MS as SECOND,
  withCommas,
} from "../../protocol/units.ts";

/** Returns a number with its noun, such as `1 key`, `2 keys` or `1,200 keys`. */
export const count = (number: number, noun: string): string =>
  `${withCommas(number)} ${noun}${number === 1 ? "" : "s"}`;

const twoDigits = (number: number): string => String(number).padStart(2, "0");

/** Returns milliseconds as `412 ms`, `48s`, `1m 04s`, `2h 05m` or `3d 04h`. */
export const formatDuration = (milliseconds: number): string => {
  const span = Math.max(0, milliseconds);
  if (span < SECOND) return `${Math.floor(span)} ms`;
  if (span < MINUTE) return `${Math.floor(span / SECOND)}s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)}m ${twoDigits(Math.floor((span % MINUTE) / SECOND))}s`;
  if (span < DAY) return `${Math.floor(span / HOUR)}h ${twoDigits(Math.floor((span % HOUR) / MINUTE))}m`;
  return `${Math.floor(span / DAY)}d ${twoDigits(Math.floor((span % DAY) / HOUR))}h`;
};

const chooseUnit = (distance: number): [number, string] => {
  if (distance < HOUR) return [MINUTE, "min"];
  return distance < DAY ? [HOUR, "h"] : [DAY, "d"];
};

/** Returns the difference between two times in milliseconds as `just now`, `12 min ago` or `in 1 h`. */
export const formatRelative = (then: number, now: number): string => {
  const distance = Math.abs(now - then);
  const isFuture = then > now;
  if (distance < 45 * SECOND) return isFuture ? "in a moment" : "just now";
  const [size, unit] = chooseUnit(distance);
  const text = `${Math.round(distance / size)} ${unit}`;
  return isFuture ? `in ${text}` : `${text} ago`;
};

/** Returns the UTC day of a time in milliseconds as `today`, `yesterday` or `12 d ago`. */
export const formatDay = (then: number, now: number): string => {
  const days = Math.floor(now / DAY) - Math.floor(then / DAY);
  if (days <= 0) return "today";
  return days === 1 ? "yesterday" : `${days} d ago`;
};

const UNITS = ["B", "KiB", "MiB", "GiB"] as const;

/** Returns bytes in readable units: `812 B`, `3.4 MiB`. */
export const sizeText = (bytes: number): string => {
  const step = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / KIB ** step;
  return `${step === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step]}`;
};

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/** Returns an ordinal number, such as `first`, `second` or `11th`. */
export const ordinal = (number: number): string => ORDINALS[number - 1] ?? `${number}th`;

/** Returns a test's suite, class and name, as far as its report has them. */
export const testName = ({ suite, className, name }: Record<"suite" | "className" | "name", string>): string =>
  [suite, className, name].filter((part) => part !== "").join(" > ") || "unnamed test";
