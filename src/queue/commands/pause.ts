import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import type { DecisionContext } from "../state/decision.ts";
import type { Change, JobFacts, JobLease, Pause } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";

/* While a part of the service that every hand-out needs is unavailable, the pool pauses. It hands out nothing for a
   while, and then one job at a time, until one is delivered. */

/** Milliseconds of the first pause, and of the longest pause. */
const FIRST_MS = SECOND_MS;
const MOST_MS = MINUTE_MS;
/** Milliseconds for which the tried job waits after the pause, so that the next try uses another job. */
const BEHIND_MS = SECOND_MS;

/** Reports whether the pool hands out nothing. */
export const isPaused = ({ pause }: Pick<PoolState, "pause">, now: number): boolean =>
  pause !== null && now < pause.until;

/** Returns the pause of a pool that was evicted. The row of the last tried job has it. */
export const latestPause = ({ jobs }: PoolState): Pause | null => {
  let latest: Pause | null = null;
  for (const { pause, lease } of jobs.values()) {
    if (pause && (!latest || latest.until < pause.until)) latest = { ...pause, fence: lease?.fence ?? null };
  }
  return latest;
};

/**
 * Pauses after a hand-out that would fail for every job. Returns the pause, and the part of it that the job's row
 * keeps.
 */
export const startPause = (
  state: PoolState,
  fence: number | null,
  { now }: DecisionContext,
): { changes: Change[]; jobPatch: Pick<JobFacts, "notBefore" | "pause"> } => {
  const { pause } = state;
  // This hand-out began before the pause, like others that fail now.
  if (pause && pause.fence !== fence && isPaused(state, now)) return { changes: [], jobPatch: { notBefore: 0 } };
  const failures = (pause?.failures ?? 0) + 1;
  const until = now + Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS);
  return {
    changes: [{ kind: "pause", pause: { failures, until, fence: null } }],
    jobPatch: { notBefore: until + BEHIND_MS, pause: { failures, until } },
  };
};

/** Tries a hand-out. The pool hands out nothing else until this hand-out, or its lease, is over. */
export const holdOthers = (
  { pause }: PoolState,
  { fence, expiresAt: until }: JobLease,
): { changes: Change[]; jobPatch: Pick<JobFacts, "pause"> } => {
  if (!pause) return { changes: [], jobPatch: { pause: undefined } };
  const { failures } = pause;
  return { changes: [{ kind: "pause", pause: { failures, until, fence } }], jobPatch: { pause: { failures, until } } };
};

/** Ends the pause's time, even if the clock is set back. After that, the pool makes only one hand-out. */
export const endPause = ({ pause }: PoolState, { now }: DecisionContext): Change[] =>
  pause && now >= pause.until ? [{ kind: "pause", pause: { ...pause, until: 0 } }] : [];

/** Ends the pause, because a hand-out has got everything that it needs. No row keeps the pause. */
export const resume = ({ pause, jobs }: PoolState): Change[] => {
  if (!pause) return [];
  const withPause = [...jobs.values()].filter((job) => job.pause);
  return [
    { kind: "pause", pause: null },
    ...withPause.map((job): Change => ({ kind: "job", job: { ...job, pause: undefined } })),
  ];
};
