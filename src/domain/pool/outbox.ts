import { FLUSH_DELAY_MS } from "./apply.ts";
import { type Decision, type DecisionContext, decided } from "./decision.ts";
import type { Change } from "./facts.ts";
import type { PoolState } from "./state.ts";

const MAX_BACKOFF_MS = 60_000;

/** How an attempt to tell others what they do not know yet went. */
export interface FlushResult {
  /** Builds that D1 now knows in this version. */
  builds: { buildId: string; version: number }[];
  /** Numbers of the outbox entries that were delivered. */
  entries: number[];
  /** Something could not be sent. */
  failed: boolean;
}

/** A build changed since it was read stays dirty; what failed is tried again, ever more patiently. */
export const recordFlush = (state: PoolState, done: FlushResult, { now }: DecisionContext): Decision<null> => {
  const clean = done.builds.filter(({ buildId, version }) => {
    const known = state.builds.get(buildId) ?? state.records.ended(buildId)?.build;
    return !known || known.version === version;
  });
  const left = state.dirty.size > clean.length || state.pendingEntries > done.entries.length;
  const failures = done.failed ? state.flush.failures + 1 : 0;
  const delay = Math.min(FLUSH_DELAY_MS * 2 ** failures, MAX_BACKOFF_MS);
  const changes: Change[] = clean.map(({ buildId }) => ({ kind: "clean", buildId }));
  if (done.entries.length > 0) changes.push({ kind: "delivered", entries: done.entries });
  return decided(null, [...changes, { kind: "flush", at: left || done.failed ? now + delay : null, failures }]);
};
