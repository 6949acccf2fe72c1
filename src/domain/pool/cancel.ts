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

/** A waiting build is canceled at once; one in an agent's hands as soon as the agent says so, or is lost. */
export const cancel = (
  state: PoolState,
  order: { buildId: string; actor: Actor },
  context: DecisionContext,
): Decision<string> => {
  const { buildId, actor } = order;
  const held = activeBuild(state, buildId);
  if (!held) return state.records.ended(buildId) ? refused("conflict", "The build has ended already.") : unknownId();
  const { build, job } = held;
  if (!context.rules.mayCancel(build)) return decided(buildId);
  const ordered = audit(actor, "build.cancel", buildId, { status: build.status }, context);
  const lease = job.lease;
  if (!lease) return decided(buildId, [...ordered, ...endBuild(held, CANCELED, null, actor, context)]);
  const changes: Change[] = [
    ...ordered,
    ...patchBuild(build, { status: "canceling" }, context),
    { kind: "job", job: { ...job, lease: { ...lease, stop: { reason: "canceled", at: context.now } } } },
  ];
  return decided(buildId, changes, [{ agentId: lease.agentId, hint: { type: "cancel", buildId } }]);
};

/** The service had to mask a secret that the agent let through: people must know, even after the build's end. */
export const flagLeak = (
  state: PoolState,
  { buildId, fence }: { buildId: string; fence: number },
  context: DecisionContext,
): Decision<null> => {
  const held = activeBuild(state, buildId) ?? state.records.ended(buildId);
  if (!held) return unknownId();
  if (held.job.fence < fence) return leaseLost();
  if (held.build.leak) return decided(null);
  const detail = { fence, agentId: held.job.agentId };
  return decided(null, [
    ...patchBuild(held.build, { leak: true }, context),
    { kind: "job", job: held.job },
    ...audit(SYSTEM, "build.leak", buildId, detail, context),
  ]);
};
