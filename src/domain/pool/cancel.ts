import type { Actor } from "./commands.ts";
import {
  activeBuild,
  audit,
  type Decision,
  type DecisionContext,
  decided,
  leaseLost,
  patchBuild,
  refused,
  SYSTEM,
  unknownId,
} from "./decision.ts";
import type { Change } from "./facts.ts";
import { CANCELED, endBuild } from "./lease.ts";
import type { PoolState } from "./state.ts";

/** Cancels a queued build at once, and a leased one when its agent has stopped it or the lease ends. */
export const cancel = (
  state: PoolState,
  { buildId, actor }: { buildId: string; actor: Actor },
  context: DecisionContext,
): Decision<string> => {
  const active = activeBuild(state, buildId);
  if (!active) return state.records.ended(buildId) ? refused("conflict", "The build has ended already.") : unknownId();
  const { build, job } = active;
  if (!context.rules.mayCancel(build)) return decided(buildId);
  const audited = audit(actor, "build.cancel", buildId, { status: build.status }, context);
  const lease = job.lease;
  if (!lease) return decided(buildId, [...audited, ...endBuild(active, CANCELED, null, context)]);
  const changes: Change[] = [
    ...audited,
    ...patchBuild(build, { status: "canceling" }, context),
    { kind: "job", job: { ...job, lease: { ...lease, stop: { reason: "canceled", at: context.now } } } },
    { kind: "stop-told", buildId, at: context.now },
  ];
  return decided(buildId, changes, [{ agentId: lease.agentId, hint: { type: "cancel", buildId } }]);
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
