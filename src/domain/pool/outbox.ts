import { FLUSH_DELAY_MS } from "./apply.ts";
import { type Decision, type DecisionContext, decided } from "./decision.ts";
import type { Change } from "./facts.ts";
import { recordSequence, type ToldSequence } from "./reconcile.ts";
import type { PoolState } from "./state.ts";

const MAX_BACKOFF_MS = 60_000;

/** What one attempt to empty the outbox delivered. */
export interface FlushResult {
  /** Builds, with the version that D1 has now. */
  builds: { buildId: string; version: number }[];
  /** Sequence numbers of the outbox entries that were delivered. */
  entries: number[];
  /** Something could not be delivered. */
  failed: boolean;
  /** Absent where D1 did not answer. */
  sequence?: ToldSequence;
}

/**
 * Records what an attempt delivered. A build that changed since it was read stays dirty. Retries with exponential
 * backoff, at most every 60 s.
 */
export const recordFlush = (state: PoolState, result: FlushResult, context: DecisionContext): Decision<null> => {
  const clean = result.builds.filter(({ buildId, version }) => {
    const build = state.builds.get(buildId) ?? state.records.ended(buildId)?.build;
    return !build || build.version === version;
  });
  const changes: Change[] = clean.map(({ buildId }) => ({ kind: "clean", buildId }));
  if (result.entries.length > 0) changes.push({ kind: "delivered", entries: result.entries });
  const reconciling = recordSequence(state, result, context);
  return decided(null, [...changes, nextFlush(state, result, clean.length, context), ...reconciling]);
};

const areRevocationsTold = ({ revoked }: PoolState, { sequence }: FlushResult): boolean =>
  !sequence || [...revoked.values()].every((at) => at <= sequence.written);

const nextFlush = (state: PoolState, result: FlushResult, cleaned: number, { now }: DecisionContext): Change => {
  const isEmpty = state.dirty.size <= cleaned && state.pendingEntries <= result.entries.length;
  const isTold = state.tellAgainAfter === null && areRevocationsTold(state, result);
  const failures = result.failed ? state.flush.failures + 1 : 0;
  const delay = Math.min(FLUSH_DELAY_MS * 2 ** failures, MAX_BACKOFF_MS);
  return { kind: "flush", at: isEmpty && isTold && !result.failed ? null : now + delay, failures };
};
