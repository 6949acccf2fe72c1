import type { Build, Step } from "../../protocol/build.ts";
import { stepsIn } from "../../services/build-jobs.ts";

/** How long the last green run took, and each of its steps or jobs, in milliseconds. */
export interface UsualTimes {
  whole: number | null;
  steps: Map<string, number>;
  jobs: Map<string, number>;
}

const taken = ({ startedAt, finishedAt }: Pick<Step, "startedAt" | "finishedAt">): number | undefined =>
  startedAt === null || finishedAt === null ? undefined : Date.parse(finishedAt) - Date.parse(startedAt);

const timesOf = <T extends Pick<Step, "startedAt" | "finishedAt">>(all: T[], name: (one: T) => string) =>
  new Map(
    all.flatMap((one): [string, number][] => {
      const time = taken(one);
      return time === undefined ? [] : [[name(one), time]];
    }),
  );

/** The times of the last green run; none where there is no such run. */
export const usualTimes = (green: Pick<Build, "startedAt" | "finishedAt" | "steps" | "jobs"> | null): UsualTimes => ({
  whole: (green && taken(green)) ?? null,
  steps: timesOf(green?.steps ?? [], ({ name }) => name),
  jobs: timesOf(
    (green?.jobs ?? []).filter(({ adoptedFrom }) => adoptedFrom === null),
    ({ key }) => key,
  ),
});

/** The times of one job of that run, and of its steps. */
export const usualTimesOfJob = (
  green: Pick<Build, "startedAt" | "finishedAt" | "steps" | "jobs"> | null,
  key: string,
) => {
  const job = green?.jobs?.find((one) => one.key === key && one.adoptedFrom === null);
  const steps = job && stepsIn({ jobs: [job] }).get(job.id);
  return { whole: (job && taken(job)) ?? null, steps: timesOf(steps ?? [], ({ name }) => name) };
};
