import { CLEAN_UP_MS } from "./cancel.ts";
import type { BuildView } from "./job-view.ts";
import type { JobNode } from "./node.ts";

/**
 * When a build that was settled `now` has to be settled again though nothing happens to it: a gate times out, its own
 * time is over, or the minutes for cleaning up are. Null: never. Milliseconds since 1970. What was missed is not told:
 * after a load every build is settled once.
 */
export const deadlineOf = (
  { several: { until, cancel } }: Pick<BuildView, "several">,
  nodes: Iterable<JobNode>,
  now: number,
): number | null => {
  const times = [until, until + CLEAN_UP_MS, ...(cancel ? [cancel.until] : [])];
  for (const { gate, end } of nodes) if (gate && !gate.decision && !end) times.push(gate.until);
  const ahead = times.filter((time) => time > now);
  return ahead.length === 0 ? null : Math.min(...ahead);
};
