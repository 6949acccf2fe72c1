import type { Fault } from "./watched-bindings.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The share of the day's work that begins in each hour. */
const OF_HOURS = [1, 1, 1, 1, 1, 1, 2, 6, 12, 14, 14, 12, 10, 14, 14, 14, 12, 8, 4, 2, 2, 1, 1, 1];

/** A day's description. Times are milliseconds since its midnight. */
export interface DayPlan {
  from: number;
  until: number;
  people: number;
  agents: number;
  /** Number of pipelines in each repository. The first is the monorepo. */
  repositories: number[];
  pushes: number;
  /** The monorepo's pull requests: each builds all of its pipelines. */
  pulls: number;
  /** Builds that people create by a request, and lists that they read. */
  calls: number;
  pages: number;
  /** A tenant that requests builds without a pause, and its quota. */
  loop: { from: number; until: number; perMinute: number; buildsPerDay: number };
  faults: Fault[];
  /** Objects that end while they work. */
  resets: { at: number; binding: "AGENT_POOL" | "GIT_HOST" }[];
  /** Minutes without a cron, with two at once, or with a late one. */
  crons: { none: number[]; twice: number[]; late: number[] };
}

/** Returns so many times of the day: more in busy hours, and none in its last hour, in which the work has to end. */
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
