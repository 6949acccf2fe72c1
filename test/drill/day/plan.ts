import type { Fault } from "./watched-bindings.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How much of the day's work begins in each hour. */
const OF_HOURS = [1, 1, 1, 1, 1, 1, 2, 6, 12, 14, 14, 12, 10, 14, 14, 14, 12, 8, 4, 2, 2, 1, 1, 1];

/** What a day is like. Times are milliseconds since its midnight. */
export interface DayPlan {
  from: number;
  until: number;
  people: number;
  agents: number;
  /** Pipelines of each repository. The first is the monorepo. */
  repositories: number[];
  pushes: number;
  /** Pull requests of the monorepo: each builds all of its pipelines. */
  pulls: number;
  /** Builds that people make by a request, and lists that they read. */
  calls: number;
  pages: number;
  /** A tenant that asks for builds without a pause, and what it may have. */
  loop: { from: number; until: number; perMinute: number; buildsPerDay: number };
  faults: Fault[];
  /** Objects that end while they work. */
  resets: { at: number; binding: "AGENT_POOL" | "GIT_HOST" }[];
  /** Minutes for which no cron comes, two at once, or a late one. */
  crons: { none: number[]; twice: number[]; late: number[] };
}

/** So many times of the day, more of them in busy hours, and none in its last hour: the work has to end in it. */
export const timesOf = ({ from, until }: DayPlan, count: number, chance: () => number): number[] => {
  const total = OF_HOURS.reduce((sum, weight) => sum + weight, 0);
  return Array.from({ length: count }, () => {
    let left = chance() * total;
    const hour = OF_HOURS.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return from + (hour * HOUR + chance() * HOUR) * ((until - HOUR - from) / DAY);
  });
};
