import { DETAILS } from "../../protocol/problem.ts";
import { audit, type Decision, type DecisionContext, decided, later, refused, unknownId } from "../state/decision.ts";
import type { BuildFacts, Change, Deleted, Deletion } from "../state/facts.ts";
import { storeFence } from "../state/outbox.ts";
import type { PoolState } from "../state/state.ts";
import type { Actor } from "./commands.ts";

export interface DeleteRequest {
  buildId: string;
  deleted: Deleted;
  /** The build as readers see it. The pool may have forgotten the build. */
  seen: Pick<BuildFacts, "repoId" | "number" | "finishedAt"> & Pick<Deletion, "jobs" | "artifacts" | "tests">;
  actor: Actor;
}

const AUDITED = { build: "build.delete", log: "log.delete" } as const;

/** Deletes an ended build, or its log. The pool forgets the build at once, so that nothing reports it again. */
export const deleteBuild = (
  state: PoolState,
  { buildId, deleted, seen: view, actor }: DeleteRequest,
  context: DecisionContext,
): Decision<null> => {
  const earlierDeletion = state.records.deletion(buildId);
  if (earlierDeletion?.deleted === "build") return unknownId();
  if (earlierDeletion?.deleted === deleted) return refused("not-found", DETAILS["log-deleted"]);
  const build = state.records.ended(buildId);
  const finishedAt = build?.finishedAt ?? view.finishedAt;
  if (state.builds.has(buildId) || finishedAt === null) {
    return refused("conflict", "The build has not ended: cancel it first, or wait.");
  }
  const { jobs = [], artifacts = [], tests = [] } = view;
  const at = later(state, context.now);
  const places = {
    ...(jobs.length > 0 && { jobs }),
    ...(artifacts.length > 0 && { artifacts }),
    ...(tests.length > 0 && { tests }),
  };
  const deletion: Deletion = { buildId, deleted, finishedAt, ...places, at };
  // If the pool is later restored to a time before the build, it finds in the audit that the build's number was used.
  const { repoId, number } = view;
  return decided(null, [
    { kind: "deleted", deletion },
    ...(build && deleted === "build" ? [...keepDayCount(state, build), ...storeFence(state)] : []),
    ...audit(actor, AUDITED[deleted], buildId, { repoId, number }, context),
  ]);
};

/** Keeps the day's count when the pool deletes the row that contains it. A deletion does not reduce the count. */
const keepDayCount = ({ dayCount }: PoolState, { ofDay }: BuildFacts): Change[] =>
  ofDay === dayCount.builds ? [{ kind: "day-count", count: dayCount }] : [];

/**
 * Reports whether D1 has the deletion. D1 must have it before the pool carries it out: if a pool is restored to a time
 * before the deletion, it then finds the deletion in D1. The second report, for a settled deletion, lets D1 show a
 * restore to a time before the first report.
 */
export const mayCarryOut = ({ databaseSequence }: PoolState, { at }: Deletion): boolean => databaseSequence >= at;
