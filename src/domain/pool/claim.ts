import type { Claim, Delivery, FailClaim, Unclaim } from "./commands.ts";
import {
  agentActor,
  audit,
  type Decision,
  decided,
  leaseLost,
  rebuilt,
  refused,
  type Setting,
  SYSTEM,
  speaker,
  underWay,
  unknownToken,
} from "./decision.ts";
import type { AgentFacts, Change, Lease } from "./facts.ts";
import { CANCELED, end, type Held, requeue } from "./lease.ts";
import { firstFor, NOTHING_PROMISED } from "./match.ts";
import type { PoolState } from "./state.ts";

/** Milliseconds for which a build at least rests when a dependency was away. */
const UNCLAIM_MS = 1_000;

export interface Granted {
  buildId: string;
  fence: number;
  expiresAt: number;
}

/**
 * The next build for an agent that asks. One that was handed out and not started is handed to the same agent again
 * under the same lease, so that a lost answer loses no build.
 */
export const claim = (state: PoolState, asked: Claim, setting: Setting): Decision<Granted | null> => {
  const { now, rules } = setting;
  const agent = speaker(state, setting, asked);
  if (!agent) return unknownToken();
  const followed: Change[] = forgetOffer(state, agent);
  if (rules.isStale(agent, asked.bootId)) return decided(null);
  const held = heldBy(state, agent.id);
  if (held) {
    const { build, job } = held;
    return decided(rules.handsOutAgain(build) ? granted(build.id, job.lease!) : null, followed);
  }
  const place = rules.takesBuilds(agent, now) ? firstFor(state, agent, NOTHING_PROMISED, setting) : undefined;
  if (!place) return decided(null, followed);
  const { changes, lease } = grant(state, underWay(state, place.id)!, agent, setting);
  return decided(granted(place.id, lease), [...followed, ...changes]);
};

const granted = (buildId: string, { fence, expiresAt }: Lease): Granted => ({ buildId, fence, expiresAt });

const forgetOffer = (state: PoolState, { id }: AgentFacts): Change[] => {
  const buildId = state.index.offered.get(id);
  return buildId ? [{ kind: "offer", buildId, offer: null }] : [];
};

const heldBy = (state: PoolState, agentId: string): Held | undefined => {
  const buildId = state.index.holding.get(agentId);
  return buildId === undefined ? undefined : underWay(state, buildId);
};

const grant = (state: PoolState, { build, job }: Held, agent: AgentFacts, setting: Setting) => {
  const { now, startMs, rules } = setting;
  const fence = rules.nextFence(state.fence, now);
  const lease: Lease = {
    ...{ fence, agentId: agent.id, expiresAt: now + startMs },
    ...{ startedAt: null, stop: null, graced: false },
  };
  const changes: Change[] = [
    { kind: "fence", fence },
    ...rebuilt(build, { status: "assigned" }, setting),
    { kind: "job", job: { ...job, lease, fence, agentId: agent.id, notBefore: 0, result: null } },
  ];
  return { lease, changes };
};

/**
 * The last word before secrets leave: the lease is current, the build not to be stopped, the agent not removed.
 * Who got which keys is in the audit before anything is answered.
 */
export const deliver = (state: PoolState, delivery: Delivery, setting: Setting): Decision<Granted> => {
  const { buildId, fence, agentId, environment, variableIds = [], requestId = null } = delivery;
  const held = underWay(state, buildId);
  if (!held || !setting.rules.holdsLease(held.job, agentId, fence) || !state.agents.has(agentId)) return leaseLost();
  if (!setting.rules.mayDeliver(held.build)) return leaseLost();
  const keys = environment.map(({ key }) => key);
  const actor = { ...agentActor(agentId), requestId };
  return decided(granted(buildId, held.job.lease!), [
    { kind: "report", buildId, report: { environment } },
    ...rebuilt(held.build, {}, setting),
    ...audit(actor, "build.deliver", buildId, { agentId, keys, variableIds }, setting),
  ]);
};

const handedOut = (state: PoolState, { buildId, fence }: { buildId: string; fence: number }, { rules }: Setting) => {
  const held = underWay(state, buildId);
  const lease = held?.job.lease;
  return held && lease && rules.holdsLease(held.job, lease.agentId, fence) ? held : undefined;
};

/** A hand-out is taken back because something it needs is away: nobody's fault, so nothing is counted. */
export const unclaim = (state: PoolState, back: Unclaim, setting: Setting): Decision<null> => {
  const held = handedOut(state, back, setting);
  if (!held) return leaseLost();
  if (held.job.lease!.startedAt !== null) return refused("conflict", "The build was started.");
  if (held.build.status === "canceling") return decided(null, end(held, CANCELED, null, SYSTEM, setting));
  const notBefore = Math.max(back.notBefore, setting.now + UNCLAIM_MS);
  const unstarted = setting.rules.unstartedAfter(held.job, "unclaimed");
  return decided(null, requeue(held, { notBefore, unstarted }, setting));
};

/** A hand-out that can never succeed, because the environment cannot be composed: the build fails and says why. */
export const failClaim = (state: PoolState, failed: FailClaim, setting: Setting): Decision<string> => {
  const held = handedOut(state, failed, setting);
  if (!held) return leaseLost();
  if (held.job.lease!.startedAt !== null) return refused("conflict", "The build was started.");
  const unreadable = { status: "failed", exitCode: null, reason: failed.reason } as const;
  const outcome = held.build.status === "canceling" ? CANCELED : unreadable;
  return decided(failed.buildId, end(held, outcome, failed.message, SYSTEM, setting));
};
