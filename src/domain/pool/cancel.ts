import type { Actor } from "./commands.ts";
import {
  audit,
  type Decision,
  decided,
  leaseLost,
  noBuild,
  rebuilt,
  refused,
  type Setting,
  SYSTEM,
  underWay,
} from "./decision.ts";
import type { Change } from "./facts.ts";
import { CANCELED, end } from "./lease.ts";
import type { PoolState } from "./state.ts";

/** A waiting build is canceled at once; one in an agent's hands as soon as the agent says so, or is lost. */
export const cancel = (
  state: PoolState,
  order: { buildId: string; actor: Actor },
  setting: Setting,
): Decision<string> => {
  const { buildId, actor } = order;
  const held = underWay(state, buildId);
  if (!held) return state.records.ended(buildId) ? refused("conflict", "The build has ended already.") : noBuild();
  const { build, job } = held;
  if (!setting.rules.mayCancel(build)) return decided(buildId);
  const ordered = audit(actor, "build.cancel", buildId, { status: build.status }, setting);
  const lease = job.lease;
  if (!lease) return decided(buildId, [...ordered, ...end(held, CANCELED, null, actor, setting)]);
  const changes: Change[] = [
    ...ordered,
    ...rebuilt(build, { status: "canceling" }, setting),
    { kind: "job", job: { ...job, lease: { ...lease, stop: { reason: "canceled", at: setting.now } } } },
  ];
  return decided(buildId, changes, [{ agentId: lease.agentId, hint: { type: "cancel", buildId } }]);
};

/** The service had to mask a secret that the agent let through: people must know, even after the build's end. */
export const flagLeak = (
  state: PoolState,
  { buildId, fence }: { buildId: string; fence: number },
  setting: Setting,
): Decision<null> => {
  const held = underWay(state, buildId) ?? state.records.ended(buildId);
  if (!held) return noBuild();
  if (held.job.fence < fence) return leaseLost();
  if (held.build.leak) return decided(null);
  const detail = { fence, agentId: held.job.agentId };
  return decided(null, [
    ...rebuilt(held.build, { leak: true }, setting),
    { kind: "job", job: held.job },
    ...audit(SYSTEM, "build.leak", buildId, detail, setting),
  ]);
};
