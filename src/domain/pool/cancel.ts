import type { Actor } from "./commands.ts";
import {
  activeBuild,
  audit,
  type Decision,
  type DecisionContext,
  decided,
  leaseLost,
  type Push,
  patchBuild,
  refused,
  SYSTEM,
  unknownId,
} from "./decision.ts";
import type { ActiveBuild, Change } from "./facts.ts";
import { endCanceled } from "./lease.ts";
import type { PoolState } from "./state.ts";

/** Why a build is canceled, in words for people; and the build of a newer head, where that took its place. */
export interface Cancellation {
  message: string | null;
  supersededBy: string | null;
}

/** Ends a queued build at once. A leased one ends when its agent has stopped it, or when its lease ends. */
export const cancelBuild = (
  { build, job }: ActiveBuild,
  { message, supersededBy }: Cancellation,
  actor: Actor,
  context: DecisionContext,
): { changes: Change[]; pushes: Push[] } => {
  const { id, status } = build;
  const detail = supersededBy === null ? { status } : { status, supersededBy };
  const audited = audit(actor, "build.cancel", id, detail, context);
  const canceled = { ...build, message, ...(supersededBy !== null && { supersededBy }) };
  const { lease } = job;
  if (!lease) return { changes: [...audited, ...endCanceled({ build: canceled, job }, context)], pushes: [] };
  const changes: Change[] = [
    ...audited,
    ...patchBuild(canceled, { status: "canceling" }, context),
    { kind: "job", job: { ...job, lease: { ...lease, stop: { reason: "canceled", at: context.now } } } },
    { kind: "stop-told", buildId: id, at: context.now },
  ];
  return { changes, pushes: [{ agentId: lease.agentId, hint: { type: "cancel", buildId: id } }] };
};

/** A person or a program cancels a build. */
export const cancel = (
  state: PoolState,
  { buildId, actor }: { buildId: string; actor: Actor },
  context: DecisionContext,
): Decision<string> => {
  const active = activeBuild(state, buildId);
  if (!active) return state.records.ended(buildId) ? refused("conflict", "The build has ended already.") : unknownId();
  if (!context.rules.mayCancel(active.build)) return decided(buildId);
  const { changes, pushes } = cancelBuild(active, { message: null, supersededBy: null }, actor, context);
  return decided(buildId, changes, pushes);
};

/** Marks a build whose agent sent a secret unmasked, so that people see it; also after the build has ended. */
export const flagLeak = (
  state: PoolState,
  { buildId, fence }: { buildId: string; fence: number },
  context: DecisionContext,
): Decision<null> => {
  const found = activeBuild(state, buildId) ?? state.records.ended(buildId);
  if (!found) return unknownId();
  if (found.job.fence < fence) return leaseLost();
  if (found.build.leak) return decided(null);
  const detail = { fence, agentId: found.job.agentId };
  return decided(null, [
    ...patchBuild(found.build, { leak: true }, context),
    { kind: "job", job: found.job },
    ...audit(SYSTEM, "build.leak", buildId, detail, context),
  ]);
};
