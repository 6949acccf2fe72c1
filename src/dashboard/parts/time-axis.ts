import type { Step } from "../../protocol/build.ts";
import { DAY_MS as DAY, HOUR_MS as HOUR, MINUTE_MS as MINUTE, SECOND_MS as SECOND } from "../../protocol/units.ts";

/** Distances of ticks that people count in. */
const DISTANCES = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 30].map((days) => days * DAY),
];
const MOST_TICKS = 6;
/** The most of the picture's length, in parts of the time of work, that waiting before it takes. */
const MOST_WAITING = 0.15;

/** The time that a picture shows, in milliseconds since 1970. Waiting lies before `zero`, where the first work began. */
export interface TimeAxis {
  from: number;
  zero: number;
  to: number;
  ticks: number[];
}

/** A time of an API answer in milliseconds since 1970. */
export const parseTime = (at: string | null): number | null => (at === null ? null : Date.parse(at));

interface Shown {
  queuedAt: number;
  /** Null before any work. */
  startedAt: number | null;
  /** The last end; now, while something runs. */
  until: number;
  isLive: boolean;
  /** Milliseconds that the last green run took. */
  usual: number | null;
}

const distanceFor = (length: number): number =>
  DISTANCES.find((distance) => length / distance <= MOST_TICKS) ?? Math.ceil(length / MOST_TICKS / DAY) * DAY;

/**
 * The axis of a build. While it runs, the axis already has the room of its usual time, then ends at a whole tick: bars
 * grow, and those that have ended stay where they are. A long wait is cut to a part of the picture.
 */
export const timeAxis = ({ queuedAt, startedAt, until, isLive, usual }: Shown): TimeAxis => {
  const zero = startedAt ?? until;
  const worked = Math.max(SECOND, until - zero, isLive ? (usual ?? 0) : 0);
  const distance = distanceFor(worked);
  const length = isLive ? Math.ceil((worked * 1.02) / distance) * distance : worked;
  const ticks = Array.from({ length: Math.floor(length / distance) + 1 }, (_, index) => zero + index * distance);
  return { from: zero - Math.min(Math.max(0, zero - queuedAt), MOST_WAITING * length), zero, to: zero + length, ticks };
};

/** How far from the left the time is, as SVG takes it: `12.34%`. Times beside the axis are at its ends. */
export const placeOn = ({ from, to }: TimeAxis, time: number): string =>
  `${(100 * Math.min(1, Math.max(0, (time - from) / (to - from)))).toFixed(2)}%`;

/** The length of a stretch, of which only what is on the axis counts. */
export const lengthOn = (axis: TimeAxis, from: number, to: number): string =>
  `${Math.max(0, Number.parseFloat(placeOn(axis, to)) - Number.parseFloat(placeOn(axis, from))).toFixed(2)}%`;

/** How long the last green run took, and each of its steps or jobs by their names, in milliseconds. */
export interface UsualTimes {
  whole: number | null;
  parts: Map<string, number>;
}

type Timed = Pick<Step, "startedAt" | "finishedAt">;

const duration = ({ startedAt, finishedAt }: Timed): number | null =>
  startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);

/** None where there is no such run. */
export const usualTimes = (lastRun: Timed | null | undefined, parts: (Timed & { name: string })[]): UsualTimes => ({
  whole: (lastRun && duration(lastRun)) ?? null,
  parts: new Map(
    parts.flatMap((part): [string, number][] => {
      const time = duration(part);
      return time === null ? [] : [[part.name, time]];
    }),
  ),
});
