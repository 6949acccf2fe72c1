import { type Phase, phaseOf } from "../../protocol/build-states.ts";
import type { PoolNow } from "../../protocol/pool-now.ts";
import { includesRole, type Role } from "../../protocol/token.ts";
import { gatesThatAsk } from "../commands/gates.ts";
import { APPROVER, isHeld } from "../commands/held.ts";
import type { PoolState } from "../state/state.ts";

const COUNTED_AS: Record<Phase, "waiting" | "running" | null> = { queued: "waiting", leased: "running", ended: null };

/** How many active builds there are, each counted once. Looks at no agent and at no queue. */
export const countNow = (state: PoolState, role: Role): PoolNow => {
  const now: PoolNow = { running: 0, waiting: 0, forRole: 0 };
  for (const build of state.builds.values()) {
    const asked: Role[] = gatesThatAsk(state, build.id).map(({ by }) => by);
    if (isHeld(build)) asked.push(APPROVER);
    const isForRole = asked.some((by) => includesRole(role, by));
    const counted = isForRole ? "forRole" : COUNTED_AS[phaseOf(build.status)];
    if (counted) now[counted]++;
  }
  return now;
};
