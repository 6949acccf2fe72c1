import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import type { DecisionContext } from "../state/decision.ts";
import type { Change, JobFacts, JobLease, Pause } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";

/* While a part of the service is away that every hand-out needs, the pool pauses: it hands nothing out for a while, and
   then one job at a time, until one is delivered. */

/** Milliseconds of the first pause, and of the longest. */
const FIRST_MS = SECOND_MS;
const MOST_MS = MINUTE_MS;
/** Milliseconds by which the job that was tried waits longer, so that the next try is of another one. */
const BEHIND_MS = SECOND_MS;

/** Whether nothing is handed out. */
export const isPaused = ({ pause }: Pick<PoolState, "pause">, now: number): boolean =>
  pause !== null && now < pause.until;

/** The pause of a pool that was evicted: that of the job which was tried last. */
export const latestPause = ({ jobs }: PoolState): Pause | null => {
  let latest: Pause | null = null;
  for (const { pause, lease } of jobs.values()) {
    if (pause && (!latest || latest.until < pause.until)) latest = { ...pause, fence: lease?.fence ?? null };
  }
  return latest;
};

/** What is left of a hand-out that would fail for every job: the pause, and what the row of its job keeps of it. */
export const startPause = (
  state: PoolState,
  fence: number | null,
  { now }: DecisionContext,
): { changes: Change[]; jobPatch: Pick<JobFacts, "notBefore" | "pause"> } => {
  const { pause } = state;
  // It began before the pause, as others did.
  if (pause && pause.fence !== fence && isPaused(state, now)) return { changes: [], jobPatch: { notBefore: 0 } };
  const failures = (pause?.failures ?? 0) + 1;
  const until = now + Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS);
  return {
    changes: [{ kind: "pause", pause: { failures, until, fence: null } }],
    jobPatch: { notBefore: until + BEHIND_MS, pause: { failures, until } },
  };
};

/** A hand-out is tried: nothing else is handed out before its end, or before its lease is over. */
export const holdOthers = (
  { pause }: PoolState,
  { fence, expiresAt: until }: JobLease,
): { changes: Change[]; jobPatch: Pick<JobFacts, "pause"> } => {
  if (!pause) return { changes: [], jobPatch: { pause: undefined } };
  const { failures } = pause;
  return { changes: [{ kind: "pause", pause: { failures, until, fence } }], jobPatch: { pause: { failures, until } } };
};

/** It is over, also for a clock that is set back. The next hand-out is the only one. */
export const endPause = ({ pause }: PoolState, { now }: DecisionContext): Change[] =>
  pause && now >= pause.until ? [{ kind: "pause", pause: { ...pause, until: 0 } }] : [];

/** What every hand-out needs has answered one. No row keeps the pause. */
export const resume = ({ pause, jobs }: PoolState): Change[] => {
  if (!pause) return [];
  const withPause = [...jobs.values()].filter((job) => job.pause);
  return [
    { kind: "pause", pause: null },
    ...withPause.map((job): Change => ({ kind: "job", job: { ...job, pause: undefined } })),
  ];
};
