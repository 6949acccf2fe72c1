import { DETAILS } from "../../protocol/problem.ts";
import type { Actor } from "./commands.ts";
import { activeBuild, audit, type Decision, type DecisionContext, decided, refused, unknownId } from "./decision.ts";
import type { Change, Deleted, Deletion } from "./facts.ts";
import { nextAttempt } from "./outbox.ts";
import type { PoolState } from "./state.ts";

export interface DeleteRequest {
  buildId: string;
  deleted: Deleted;
  /** The end of the build as D1 has it, for one that the pool has forgotten; null where D1 does not know one. */
  finishedAt: number | null;
  actor: Actor;
}

/** Milliseconds after which no write that was under way at the deletion arrives any more: then it is carried out again. */
const SETTLE_MS = 60_000;

const AUDITED = { build: "build.delete", log: "log.delete" } as const;

/** Deletes an ended build, or its log. The pool forgets the build at once, so that nothing tells it again. */
export const deleteBuild = (
  state: PoolState,
  { buildId, deleted, finishedAt, actor }: DeleteRequest,
  context: DecisionContext,
): Decision<null> => {
  const earlier = state.records.deletion(buildId);
  if (earlier?.deleted === "build") return unknownId();
  if (earlier?.deleted === deleted) return refused("not-found", DETAILS["log-deleted"]);
  const endedAt = state.records.ended(buildId)?.build.finishedAt ?? finishedAt;
  if (activeBuild(state, buildId) || endedAt === null) {
    return refused("conflict", "The build has not ended: cancel it first, or wait.");
  }
  const deletion: Deletion = { buildId, deleted, finishedAt: endedAt, at: context.now };
  return decided(null, [
    ...context.rules.deletion({ kind: "deleted", deletion }),
    ...audit(actor, AUDITED[deleted], buildId, {}, context),
  ]);
};

/** What one attempt to carry out deletions did. */
export interface DeletionResult {
  done: Deletion[];
  failed: boolean;
}

/** Whether D1 was told of a time after the deletion, or there is none to tell. */
const hasPassedInD1 = ({ told, sequence }: PoolState, at: number): boolean => told >= Math.min(at, sequence);

/**
 * Records which deletions were carried out for good. A build may have followed its log meanwhile; and before D1 was
 * told a later sequence, a restore of D1 to before the deletion would not be noticed.
 */
export const recordDeletions = (
  state: PoolState,
  { done, failed }: DeletionResult,
  { now }: DecisionContext,
): Decision<null> => {
  const failures = failed ? state.deleting.failures + 1 : 0;
  const buildIds = done
    .filter(
      ({ buildId, deleted, at }) =>
        state.records.deletion(buildId)?.deleted === deleted && now >= at + SETTLE_MS && hasPassedInD1(state, at),
    )
    .map(({ buildId }) => buildId);
  const isEmpty = state.pendingDeletions.size <= buildIds.length;
  const at = failed ? nextAttempt(now, failures) : isEmpty ? null : now + SETTLE_MS;
  const changes: Change[] = buildIds.length > 0 ? [{ kind: "deletions-done", buildIds }] : [];
  if (buildIds.length > 0 && !state.isToldStored) changes.push({ kind: "told", sequence: state.told });
  return decided(null, [...changes, { kind: "deleting", at, failures }]);
};
