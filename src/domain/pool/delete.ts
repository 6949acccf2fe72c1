import { DETAILS } from "../../protocol/problem.ts";
import type { Actor } from "./commands.ts";
import { activeBuild, audit, type Decision, type DecisionContext, decided, refused, unknownId } from "./decision.ts";
import type { Change } from "./facts.ts";
import { nextAttempt } from "./outbox.ts";
import type { PoolState } from "./state.ts";

/** What a person deletes of an ended build. */
export type Deleted = "build" | "log";

/** A deletion: to be carried out in D1, in the archive and in the log, and remembered after that. */
export interface Deletion {
  buildId: string;
  deleted: Deleted;
  /** Milliseconds since 1970. The end of the build is part of its keys in the archive. */
  finishedAt: number;
  at: number;
}

export interface DeleteRequest {
  buildId: string;
  deleted: Deleted;
  /** The end of the build as D1 has it, for one that the pool has forgotten; null where D1 does not know one. */
  finishedAt: number | null;
  actor: Actor;
}

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
    ...audit(actor, `${deleted}.delete`, buildId, {}, context),
  ]);
};

/** What one attempt to carry out deletions did. */
export interface DeletionResult {
  done: Pick<Deletion, "buildId" | "deleted">[];
  failed: boolean;
}

/** Records which deletions were carried out. A build may have followed its log meanwhile. */
export const recordDeletions = (
  state: PoolState,
  { done, failed }: DeletionResult,
  { now }: DecisionContext,
): Decision<null> => {
  const failures = failed ? state.deleting.failures + 1 : 0;
  const buildIds = done
    .filter(({ buildId, deleted }) => state.records.deletion(buildId)?.deleted === deleted)
    .map(({ buildId }) => buildId);
  const at = state.pendingDeletions.size <= buildIds.length && !failed ? null : nextAttempt(now, failures);
  const changes: Change[] = buildIds.length > 0 ? [{ kind: "deletions-done", buildIds }] : [];
  return decided(null, [...changes, { kind: "deleting", at, failures }]);
};
