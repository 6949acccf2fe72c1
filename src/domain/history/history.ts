import type { EndedStatus } from "../../protocol/build-states.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { timeOfId } from "../id-range.ts";
import { type FailingRuns, failingSince, type Run } from "./failing-since.ts";

/** The number of durations in each bucket. Absent buckets are empty. */
type Histogram = Record<number, number>;

/**
 * The number of buckets from a duration to its double. A percentile is off by at most a sixteenth of an octave, 4.5 %.
 */
const BUCKETS_AN_OCTAVE = 8;

const toBucket = (milliseconds: number): number => Math.floor(Math.log2(Math.max(1, milliseconds)) * BUCKETS_AN_OCTAVE);

/** Returns the middle of a bucket, in whole milliseconds. */
const bucketMiddle = (bucket: number): number => Math.round(2 ** ((bucket + 0.5) / BUCKETS_AN_OCTAVE));

export const toHistogram = (spans: readonly number[]): Histogram => {
  const histogram: Histogram = {};
  for (const span of spans) {
    const bucket = toBucket(span);
    histogram[bucket] = (histogram[bucket] ?? 0) + 1;
  }
  return histogram;
};

export const addHistograms = (histograms: readonly Histogram[]): Histogram => {
  const sum: Histogram = {};
  for (const [bucket, count] of histograms.flatMap((one) => Object.entries(one))) {
    sum[Number(bucket)] = (sum[Number(bucket)] ?? 0) + count;
  }
  return sum;
};

/**
 * Returns the duration in milliseconds that this share of the durations does not exceed (nearest rank); null if there
 * are no durations.
 */
export const percentile = (histogram: Histogram, share: number): number | null => {
  const counts = Object.entries(histogram).map(([bucket, count]): [number, number] => [Number(bucket), count]);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let rank = Math.max(1, Math.ceil(total * share));
  for (const [bucket, count] of counts.sort(([a], [b]) => a - b)) {
    rank -= count;
    if (rank <= 0) return bucketMiddle(bucket);
  }
  return null;
};

/** The size of a pipeline's history: its last builds, and numbers for its last days. */
export const HISTORY_SIZE = { builds: 30, days: 14 };

/** An ended build. Times are milliseconds since 1970. */
export interface EndedBuild extends Run {
  number: number;
  /** The full name of the build's ref, such as `refs/heads/main`. */
  ref: string;
  /** Whether the build's tests failed and then passed. */
  isFlaky: boolean;
  subject: string | null;
  author: string | null;
  queuedAt: number;
  startedAt: number | null;
  finishedAt: number;
}

/** The builds that were created on one day. `flaky` counts the successful builds that were flaky. */
export interface DayOfBuilds {
  succeeded: number;
  failed: number;
  canceled: number;
  flaky: number;
  /** The durations of builds that succeeded or failed. */
  took: Histogram;
  /** The times from the builds' creation to their start. */
  waited: Histogram;
}

export interface History {
  /** The builds, newest first. */
  builds: EndedBuild[];
  /** The days by date, such as `2026-11-22`. */
  days: Record<string, DayOfBuilds>;
}

export const NO_HISTORY: History = { builds: [], days: {} };

/** Returns the first millisecond of a time's day. */
export const dayStart = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

/** Returns the first millisecond of the retained days. */
export const keptSince = (now: number): number => dayStart(now) - (HISTORY_SIZE.days - 1) * DAY_MS;

const isoDate = (at: number): string => new Date(at).toISOString().slice(0, 10);

const countDay = (builds: readonly EndedBuild[]): DayOfBuilds => {
  const having = (status: EndedStatus) => builds.filter((build) => build.status === status).length;
  const begun = builds.flatMap((build) => (build.startedAt === null ? [] : [{ ...build, startedAt: build.startedAt }]));
  const judged = begun.filter(({ status }) => status !== "canceled");
  return {
    succeeded: having("succeeded"),
    failed: having("failed"),
    canceled: having("canceled"),
    flaky: builds.filter(({ status, isFlaky }) => status === "succeeded" && isFlaky).length,
    took: toHistogram(judged.map(({ startedAt, finishedAt }) => finishedAt - startedAt)),
    waited: toHistogram(begun.map(({ queuedAt, startedAt }) => startedAt - queuedAt)),
  };
};

/**
 * Recounts the builds created since `from`, the first millisecond of a day. `builds` contains all builds of that time,
 * in any order, and perhaps older builds. The new counts replace the old ones, so repeating the call changes nothing.
 */
export const rollUp = (before: History, from: number, builds: readonly EndedBuild[], now: number): History => {
  const buildsById = new Map(before.builds.filter(({ id }) => timeOfId(id) < from).map((build) => [build.id, build]));
  for (const build of builds) buildsById.set(build.id, build);
  const newest = [...buildsById.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, HISTORY_SIZE.builds);
  const first = Math.max(from, keptSince(now));
  const counted = Map.groupBy(
    builds.filter(({ id }) => timeOfId(id) >= first),
    ({ id }) => isoDate(timeOfId(id)),
  );
  const days = [
    ...Object.entries(before.days).filter(([date]) => date >= isoDate(keptSince(now)) && date < isoDate(first)),
    ...[...counted].map(([date, ofDay]): [string, DayOfBuilds] => [date, countDay(ofDay)]),
  ];
  return { builds: newest, days: Object.fromEntries(days.sort(([a], [b]) => (a < b ? -1 : 1))) };
};

/** Finds when the builds of this ref began to fail; null if they do not fail. Each tag is red or green on its own. */
export const redSince = ({ builds }: History, ref: string): FailingRuns<EndedBuild> | null =>
  failingSince(builds.filter((build) => build.ref === ref));

const DAYS_OF_WEEK = 7;

/** The builds of seven days. Times are milliseconds, and null if no build began. */
export interface Week {
  succeeded: number;
  failed: number;
  canceled: number;
  flaky: number;
  /** The longest duration of the fastest half of the builds, and of the fastest nine in ten builds. */
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

/** Returns the days of the week that ends with today. With `weeksAgo` 1, returns those of the previous week. */
export const daysOfWeek = ({ days }: History, now: number, weeksAgo = 0): DayOfBuilds[] => {
  const next = dayStart(now) + DAY_MS - weeksAgo * DAYS_OF_WEEK * DAY_MS;
  return Object.entries(days).flatMap(([date, day]) => {
    const at = Date.parse(date);
    return at < next && at >= next - DAYS_OF_WEEK * DAY_MS ? [day] : [];
  });
};
