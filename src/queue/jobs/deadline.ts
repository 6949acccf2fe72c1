import type { BuildFacts, JobFacts } from "../state/facts.ts";
import { CLEAN_UP_MS } from "./cancel.ts";

/**
 * When a build that was settled `now` has to be settled again though nothing happens to it: a gate times out, its own
 * time is over, or the minutes for cleaning up are. Null: never. Milliseconds since 1970. What was missed is not told:
 * after a load every build is settled once.
 */
export const deadlineOf = (
  { until, cancel }: Pick<BuildFacts, "until" | "cancel">,
  jobs: Iterable<Pick<JobFacts, "gate" | "end">>,
  now: number,
): number | null => {
  const times = cancel ? [cancel.until] : [];
  if (until !== null) times.push(until, until + CLEAN_UP_MS);
  for (const { gate, end } of jobs) if (gate && !gate.decision && !end) times.push(gate.until);
  const ahead = times.filter((time) => time > now);
  return ahead.length === 0 ? null : Math.min(...ahead);
};
