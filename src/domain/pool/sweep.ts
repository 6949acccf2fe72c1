import { activeBuild, audit, type Decision, type DecisionContext, decided, type Push, SYSTEM } from "./decision.ts";
import { recheckElsewhere } from "./elsewhere.ts";
import type { Change, JobFacts } from "./facts.ts";
import { loseLease } from "./lease.ts";
import { lastHeardAt } from "./record.ts";
import { OUTAGE_MS } from "./rules.ts";
import { leaseDue, offersResumeAt, type PoolState } from "./state.ts";

/** What is overdue at this time: leases, builds that take too long, hints nobody followed, agents that are done. */
export const sweep = (
  state: PoolState,
  due: readonly string[],
  unfollowed: readonly string[],
  silent: readonly string[],
  context: DecisionContext,
): Decision<null> => {
  const of = (what: string) => due.filter((key) => key.startsWith(`${what}:`)).map((key) => key.slice(what.length + 1));
  const [leases, agents] = [of("lease"), of("agent")];
  const stopped = stopOvertime(state, leases, context);
  const ended = missedDeadlines(state, leases, context)
    ? extendAllLeases(state, context)
    : endExpired(state, leases, context);
  return decided(
    null,
    [
      ...stopped.changes,
      ...ended,
      ...removeRetired(state, agents, context),
      ...forgetSilent(state, silent, context),
      ...withdrawOffers(state, unfollowed, context),
      ...endDelays(state, of("wait"), context),
      ...recheckElsewhere(state, of("elsewhere"), context),
      ...of("alert").map((agentId) => ({ kind: "offers-resumed", agentId }) as const),
    ],
    stopped.pushes,
  );
};

/** A deadline long past means that we slept, and so could not hear the agents. */
const missedDeadlines = (state: PoolState, leases: string[], { now, rules }: DecisionContext): boolean =>
  leases.some((id) => {
    const lease = state.jobs.get(id)?.lease;
    return !!lease && now - lease.expiresAt > OUTAGE_MS && rules.mayGrace(lease);
  });

/** Every live lease gets its time anew, once: those that had it already and are over end now. */
const extendAllLeases = (state: PoolState, context: DecisionContext): Change[] => {
  const { now, startMs, leaseMs, rules } = context;
  return [...state.index.holding.values()].flatMap((id): Change[] => {
    const job = state.jobs.get(id)!;
    const lease = job.lease!;
    if (!rules.mayGrace(lease)) return endExpired(state, [id], context);
    const expiresAt = Math.max(lease.expiresAt, now + (lease.startedAt === null ? startMs : leaseMs));
    const stop = overtimeStop(job, context);
    return [{ kind: "job", job: { ...job, lease: { ...lease, stop, expiresAt, graced: true } } }];
  });
};

const endExpired = (state: PoolState, leases: string[], context: DecisionContext): Change[] =>
  leases.flatMap((id) => {
    const held = activeBuild(state, id);
    const lease = held?.job.lease;
    if (!held || !lease || !context.rules.leaseIsOver(lease, context.now)) return [];
    const stopped = { ...held, job: { ...held.job, lease: { ...lease, stop: overtimeStop(held.job, context) } } };
    return loseLease(stopped, state.agents.get(lease.agentId), "expired", context);
  });

const overtimeStop = (job: JobFacts, { now, rules }: DecisionContext) =>
  rules.overtime(job, now) ? ({ reason: "timeout", at: now } as const) : job.lease!.stop;

/** Tells the agents of builds that take too long to stop them. */
const stopOvertime = (
  state: PoolState,
  leases: string[],
  context: DecisionContext,
): { changes: Change[]; pushes: Push[] } => {
  const changes: Change[] = [];
  const pushes: Push[] = [];
  for (const buildId of leases) {
    const job = state.jobs.get(buildId);
    if (!job?.lease || !context.rules.overtime(job, context.now)) continue;
    changes.push({ kind: "job", job: { ...job, lease: { ...job.lease, stop: overtimeStop(job, context) } } });
    pushes.push({ agentId: job.lease.agentId, hint: { type: "cancel", buildId } });
  }
  return { changes, pushes };
};

const removeRetired = (state: PoolState, agents: string[], context: DecisionContext): Change[] =>
  agents.flatMap((agentId): Change[] => {
    const agent = state.agents.get(agentId);
    if (!agent || agent.spentAt === null || context.now < agent.spentAt || state.index.holding.has(agentId)) return [];
    const gone = { kind: "agent-removed", agentId } as const;
    return [gone, ...audit(SYSTEM, "agent.remove", agentId, { name: agent.name, isEphemeral: true }, context)];
  });

/** Agents that one sweep forgets, so that it never holds up the queue. */
export const FORGOTTEN_AT_ONCE = 100;

/** When an agent last showed that it is there. */
export const lastContact = (state: PoolState, agentId: string, { now, rules }: DecisionContext): number | null => {
  const agent = state.agents.get(agentId);
  const isHere = state.waiters.has(agentId) || state.index.holding.has(agentId);
  return agent ? rules.signOfLife(lastHeardAt(state, agent), isHere, now) : null;
};

const forgetSilent = (state: PoolState, silent: readonly string[], context: DecisionContext): Change[] =>
  silent.flatMap((agentId): Change[] => {
    const at = lastContact(state, agentId, context);
    if (at === null || !context.rules.isForgotten(at, context.now, context.agentMs)) return [];
    const { name } = state.agents.get(agentId)!;
    const detail = { name, lastHeartbeatAt: new Date(at).toISOString() };
    return [{ kind: "agent-removed", agentId }, ...audit(SYSTEM, "agent.forget", agentId, detail, context)];
  });

/** From now on these builds may be given again, wherever the clock goes. */
const endDelays = (state: PoolState, resting: string[], { now }: DecisionContext): Change[] =>
  resting.flatMap((id): Change[] => {
    const job = state.jobs.get(id);
    return job && !job.lease && job.notBefore <= now ? [{ kind: "job", job: { ...job, notBefore: 0 } }] : [];
  });

/** Who did not follow a hint is passed over this time. */
const withdrawOffers = (state: PoolState, unfollowed: readonly string[], { now, rules }: DecisionContext): Change[] =>
  unfollowed.flatMap((buildId): Change[] => {
    const offer = state.offers.get(buildId);
    if (!offer || !rules.offerIsOver(offer.at, now)) return [];
    const { agentId } = offer;
    const waiter = state.waiters.get(agentId);
    const dropped: Change = { kind: "offer", buildId, offer: null };
    if (!waiter) return [dropped];
    return [dropped, { kind: "waiter", agentId, waiter: { ...waiter, ignored: waiter.ignored + 1, ignoredAt: now } }];
  });

/** When a key taken from the agenda is truly due; null where it no longer is. */
export const actualDeadline = (state: PoolState, key: string): number | null => {
  const id = key.slice(key.indexOf(":") + 1);
  if (key.startsWith("agent:")) return state.agents.get(id)?.spentAt ?? null;
  if (key.startsWith("alert:")) return offersResumeAt(state, id);
  const job = state.jobs.get(id);
  if (!job) return null;
  if (key.startsWith("elsewhere:")) return job.lease ? null : (job.passedOver?.until ?? null);
  return key.startsWith("lease:") ? leaseDue(job) : job.lease || job.notBefore === 0 ? null : job.notBefore;
};
