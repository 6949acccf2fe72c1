import type { Step } from "../../protocol/build.ts";

/** Bytes of a log, from `start` to before `end`, or to its end where that is null. */
export interface PartOfLog {
  start: number;
  end: number | null;
}

/** What the step wrote whose output begins at `start`: up to where the next one begins. */
export const partFrom = (steps: readonly Step[], start: number): PartOfLog => {
  const later = steps.flatMap(({ logOffset }) => (logOffset !== null && logOffset > start ? [logOffset] : []));
  return { start, end: later.length > 0 ? Math.min(...later) : null };
};

/** What the step wrote that failed; without one, what was written before the first step. */
export const failingPart = (steps: readonly Step[]): PartOfLog =>
  partFrom(steps, steps.find(({ status }) => status === "failed")?.logOffset ?? 0);
