import type { Step } from "../../protocol/build.ts";
import { DAY_MS as DAY, HOUR_MS as HOUR, MINUTE_MS as MINUTE, SECOND_MS as SECOND } from "../../protocol/units.ts";

/** Distances between ticks in common units. */
const DISTANCES = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 30].map((days) => days * DAY),
];
const MOST_TICKS = 6;
/** The maximum length of the initial wait on the axis, as a fraction of the work's time. */
const MOST_WAITING = 0.15;

/**
 * The time that a chart shows, in milliseconds since 1970. The wait is before `zero`, the time when the first work
 * began.
 */
export interface TimeAxis {
  from: number;
  zero: number;
  to: number;
  ticks: number[];
}

/** Returns a time in an API answer as milliseconds since 1970. */
export const parseTime = (at: string | null): number | null => (at === null ? null : Date.parse(at));

interface Shown {
  queuedAt: number;
  /** The start of work; null before work begins. */
  startedAt: number | null;
  /** The end of the last work, or the present time while work continues. */
  until: number;
  isLive: boolean;
  /** The duration of the last green run, in milliseconds. */
  usual: number | null;
}

const distanceFor = (length: number): number =>
  DISTANCES.find((distance) => length / distance <= MOST_TICKS) ?? Math.ceil(length / MOST_TICKS / DAY) * DAY;

/**
 * Returns a build's axis. While the build runs, the axis has room for the build's usual time. After that time, the axis
 * ends at a whole tick, so that bars grow while ended bars stay in place. Shortens a long wait.
 */
export const timeAxis = ({ queuedAt, startedAt, until, isLive, usual }: Shown): TimeAxis => {
  const zero = startedAt ?? until;
  const worked = Math.max(SECOND, until - zero, isLive ? (usual ?? 0) : 0);
  const distance = distanceFor(worked);
  const length = isLive ? Math.ceil((worked * 1.02) / distance) * distance : worked;
  const ticks = Array.from({ length: Math.floor(length / distance) + 1 }, (_, index) => zero + index * distance);
  return { from: zero - Math.min(Math.max(0, zero - queuedAt), MOST_WAITING * length), zero, to: zero + length, ticks };
};

/**
 * Returns a time's distance from the left in the form that SVG expects: `12.34%`. Times outside the axis are at its
 * ends.
 */
export const placeOn = ({ from, to }: TimeAxis, time: number): string =>
  `${(100 * Math.min(1, Math.max(0, (time - from) / (to - from)))).toFixed(2)}%`;

/** Returns the length of a period on the axis. */
export const lengthOn = (axis: TimeAxis, from: number, to: number): string =>
  `${Math.max(0, Number.parseFloat(placeOn(axis, to)) - Number.parseFloat(placeOn(axis, from))).toFixed(2)}%`;

/** The durations of the last green run, and of each of its steps or jobs by name, in milliseconds. */
export interface UsualTimes {
  whole: number | null;
  parts: Map<string, number>;
}

type Timed = Pick<Step, "startedAt" | "finishedAt">;

const duration = ({ startedAt, finishedAt }: Timed): number | null =>
  startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);

/** Returns the usual times. They are empty if there is no last green run. */
export const usualTimes = (lastRun: Timed | null | undefined, parts: (Timed & { name: string })[]): UsualTimes => ({
  whole: (lastRun && duration(lastRun)) ?? null,
  parts: new Map(
    parts.flatMap((part): [string, number][] => {
      const time = duration(part);
      return time === null ? [] : [[part.name, time]];
    }),
  ),
});
