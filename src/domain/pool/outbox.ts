import { FLUSH_DELAY_MS } from "./apply.ts";
import { type Decision, decided, type Setting } from "./decision.ts";
import type { Change } from "./facts.ts";
import type { PoolState } from "./state.ts";

const LONGEST_BACK_OFF_MS = 60_000;

/** How an attempt to tell others what they do not know yet went. */
export interface Flushed {
  /** Builds that D1 now knows in this version. */
  builds: { buildId: string; version: number }[];
  /** Numbers of the letters that arrived. */
  letters: number[];
  /** Something could not be sent. */
  failed: boolean;
}

/** A build changed since it was read stays dirty; what failed is tried again, ever more patiently. */
export const flushed = (state: PoolState, done: Flushed, { now }: Setting): Decision<null> => {
  const clean = done.builds.filter(({ buildId, version }) => {
    const known = state.builds.get(buildId) ?? state.records.ended(buildId)?.build;
    return !known || known.version === version;
  });
  const left = state.dirty.size > clean.length || state.letters > done.letters.length;
  const failures = done.failed ? state.flush.failures + 1 : 0;
  const delay = Math.min(FLUSH_DELAY_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
  const changes: Change[] = clean.map(({ buildId }) => ({ kind: "clean", buildId }));
  if (done.letters.length > 0) changes.push({ kind: "sent", letters: done.letters });
  return decided(null, [...changes, { kind: "flush", at: left || done.failed ? now + delay : null, failures }]);
};
