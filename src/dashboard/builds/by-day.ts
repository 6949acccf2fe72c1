import type { Build } from "../../protocol/build.ts";

/** Builds that were made on one day (UTC), the newest first. */
interface DayOfBuilds {
  /** `2026-11-26` */
  day: string;
  builds: Build[];
}

/** The builds of a list, which is newest first, by the days on which they were made. */
export const byDay = (builds: readonly Build[]): DayOfBuilds[] =>
  [...Map.groupBy(builds, ({ queuedAt }) => queuedAt.slice(0, 10))].map(([day, ofDay]) => ({ day, builds: ofDay }));
