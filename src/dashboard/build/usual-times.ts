import type { Step } from "../../protocol/build.ts";

/** How long the last green run took, and each of its steps or jobs by their names, in milliseconds. */
export interface UsualTimes {
  whole: number | null;
  parts: Map<string, number>;
}

type Timed = Pick<Step, "startedAt" | "finishedAt">;

const taken = ({ startedAt, finishedAt }: Timed): number | null =>
  startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);

/** None where there is no such run. */
export const usualTimes = (ran: Timed | null | undefined, parts: (Timed & { name: string })[]): UsualTimes => ({
  whole: (ran && taken(ran)) ?? null,
  parts: new Map(
    parts.flatMap((part): [string, number][] => {
      const time = taken(part);
      return time === null ? [] : [[part.name, time]];
    }),
  ),
});
