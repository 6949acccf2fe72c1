import type { JobOfBuild } from "../../protocol/build-job.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { ReadBuild } from "../../services/builds/build-view.ts";
import { type TimeAxis, timeAxis } from "../parts/time-axis.ts";
import { jobStateOf } from "./arrange.ts";

/** While nothing but gates is waited for, the wait takes so much of the picture as a part of what came before. */
const WAIT = 1 / 3;

const time = (at: string | null): number | null => (at === null ? null : Date.parse(at));

/** Whether people alone keep the build from going on. */
const waitsForPeople = (jobs: readonly JobOfBuild[]): boolean =>
  jobs.some((job) => jobStateOf(job) === "asking") &&
  jobs.every((job) => job.finishedAt !== null || jobStateOf(job) === "asking" || jobStateOf(job) === "waiting");

/**
 * The time of the build that its picture shows: from the first job that began to the last that ended. A wait for people
 * runs out of the picture: hours of it would leave nothing to see of minutes of work.
 */
export const axisOf = (
  { jobs, status, queuedAt, finishedAt }: Pick<ReadBuild, "jobs" | "status" | "queuedAt" | "finishedAt">,
  usual: number | null,
  now: Date,
): TimeAxis => {
  const own = jobs.filter(({ adoptedFrom }) => adoptedFrom === null);
  const begins = own.flatMap(({ startedAt, gate }) => time(startedAt ?? gate?.since ?? null) ?? []);
  const ends = own.flatMap((job) => time(job.finishedAt) ?? []);
  const startedAt = begins.length > 0 ? Math.min(...begins) : null;
  const isLive = !isEnded(status);
  const shared = { queuedAt: Date.parse(queuedAt), startedAt, isLive };
  if (startedAt !== null && ends.length > 0 && isLive && waitsForPeople(jobs)) {
    const worked = Math.max(...ends, ...begins) - startedAt;
    return timeAxis({ ...shared, until: Math.min(now.getTime(), startedAt + worked * (1 + WAIT)), usual: null });
  }
  return timeAxis({ ...shared, until: isLive ? now.getTime() : Math.max(time(finishedAt) ?? 0, ...ends), usual });
};
