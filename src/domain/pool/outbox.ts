import { FLUSH_DELAY_MS } from "./apply.ts";
import { type Decision, type DecisionContext, decided } from "./decision.ts";
import type { Change } from "./facts.ts";
import { hasToldRevocations, recordSequence, type ToldSequence } from "./reconcile.ts";
import type { PoolState } from "./state.ts";

const MAX_BACKOFF_MS = 60_000;

/** What one attempt told D1. */
export interface FlushResult {
  /** Builds, with the version that D1 has now. */
  builds: { buildId: string; version: number }[];
  /** Sequence numbers of the audit entries that were delivered. */
  entries: number[];
  /** Null where nothing was told that raises the pool's sequence in D1, or D1 did not answer. */
  sequence: ToldSequence | null;
  /** Something could not be delivered. */
  failed: boolean;
}

/** What one attempt to close logs did. */
export interface CloseResult {
  entries: number[];
  failed: boolean;
}

/** Exponential backoff, at most 60 s. */
export const nextAttempt = (now: number, failures: number): number =>
  now + Math.min(FLUSH_DELAY_MS * 2 ** failures, MAX_BACKOFF_MS);

/**
 * Records what an attempt told. A build that has ended since it was read has to be told again; any other change of an
 * active build is told at its end.
 */
export const recordFlush = (state: PoolState, result: FlushResult, context: DecisionContext): Decision<null> => {
  const { now, rules } = context;
  const changes = result.builds.flatMap(({ buildId, version }): Change[] => {
    const build = state.builds.get(buildId) ?? state.records.ended(buildId);
    if (build && !rules.isHeard(build, version)) return [];
    return [{ kind: "clean", buildId, endedAt: build?.finishedAt ?? null }];
  });
  const isEmpty = state.dirty.size <= changes.length && state.records.pending().audits <= result.entries.length;
  const isTold = isEmpty && state.tellAgainAfter === null && hasToldRevocations(state, result.sequence);
  const failures = result.failed ? state.flush.failures + 1 : 0;
  const endsTold = changes.some((change) => change.kind === "clean" && change.endedAt !== null);
  const isStored = endsTold || result.builds.length === 0;
  if (result.entries.length > 0) changes.push({ kind: "audits-told", entries: result.entries });
  const at = isTold && !result.failed ? null : nextAttempt(now, failures);
  return decided(null, [
    ...changes,
    { kind: "flush", at, failures },
    ...recordSequence(state, result, isStored, context),
  ]);
};

/** Records which logs were closed. */
export const recordCloses = (state: PoolState, result: CloseResult, { now }: DecisionContext): Decision<null> => {
  const { entries, failed } = result;
  const failures = failed ? state.closing.failures + 1 : 0;
  const at = state.records.pending().closes <= entries.length && !failed ? null : nextAttempt(now, failures);
  const changes: Change[] = entries.length > 0 ? [{ kind: "logs-closed", entries }] : [];
  return decided(null, [...changes, { kind: "closing", at, failures }]);
};
