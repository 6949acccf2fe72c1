import { audit, type Decision, decided, type Push, type Setting, SYSTEM, underWay } from "./decision.ts";
import { lookAgain } from "./elsewhere.ts";
import type { Change, JobFacts } from "./facts.ts";
import { lose } from "./lease.ts";
import { heardAt } from "./record.ts";
import { OUTAGE_MS } from "./rules.ts";
import { leaseDue, type PoolState, triedAgainAt } from "./state.ts";

/** What is overdue at this time: leases, builds that take too long, hints nobody followed, agents that are done. */
export const sweep = (
  state: PoolState,
  due: readonly string[],
  unfollowed: readonly string[],
  silent: readonly string[],
  setting: Setting,
): Decision<null> => {
  const of = (what: string) => due.filter((key) => key.startsWith(`${what}:`)).map((key) => key.slice(what.length + 1));
  const [leases, agents] = [of("lease"), of("agent")];
  const stopped = stopOvertime(state, leases, setting);
  const ended = wasAway(state, leases, setting) ? graceAll(state, setting) : endOver(state, leases, setting);
  return decided(
    null,
    [
      ...stopped.changes,
      ...ended,
      ...removeSpent(state, agents, setting),
      ...forgetSilent(state, silent, setting),
      ...dropOffers(state, unfollowed, setting),
      ...endRests(state, of("wait"), setting),
      ...lookAgain(state, of("elsewhere"), setting),
      ...of("alert").map((agentId) => ({ kind: "tried-again", agentId }) as const),
    ],
    stopped.pushes,
  );
};

/** A deadline long past means that we slept, and so could not hear the agents. */
const wasAway = (state: PoolState, leases: string[], { now, rules }: Setting): boolean =>
  leases.some((id) => {
    const lease = state.jobs.get(id)?.lease;
    return !!lease && now - lease.expiresAt > OUTAGE_MS && rules.mayGrace(lease);
  });

/** Every live lease gets its time anew, once: those that had it already and are over end now. */
const graceAll = (state: PoolState, setting: Setting): Change[] => {
  const { now, startMs, leaseMs, rules } = setting;
  return [...state.index.holding.values()].flatMap((id): Change[] => {
    const job = state.jobs.get(id)!;
    const lease = job.lease!;
    if (!rules.mayGrace(lease)) return endOver(state, [id], setting);
    const expiresAt = Math.max(lease.expiresAt, now + (lease.startedAt === null ? startMs : leaseMs));
    const stop = overtimeStop(job, setting);
    return [{ kind: "job", job: { ...job, lease: { ...lease, stop, expiresAt, graced: true } } }];
  });
};

const endOver = (state: PoolState, leases: string[], setting: Setting): Change[] =>
  leases.flatMap((id) => {
    const held = underWay(state, id);
    const lease = held?.job.lease;
    if (!held || !lease || !setting.rules.leaseIsOver(lease, setting.now)) return [];
    const stopped = { ...held, job: { ...held.job, lease: { ...lease, stop: overtimeStop(held.job, setting) } } };
    return lose(stopped, state.agents.get(lease.agentId), "expired", setting);
  });

const overtimeStop = (job: JobFacts, { now, rules }: Setting) =>
  rules.overtime(job, now) ? ({ reason: "timeout", at: now } as const) : job.lease!.stop;

/** Tells the agents of builds that take too long to stop them. */
const stopOvertime = (state: PoolState, leases: string[], setting: Setting): { changes: Change[]; pushes: Push[] } => {
  const changes: Change[] = [];
  const pushes: Push[] = [];
  for (const buildId of leases) {
    const job = state.jobs.get(buildId);
    if (!job?.lease || !setting.rules.overtime(job, setting.now)) continue;
    changes.push({ kind: "job", job: { ...job, lease: { ...job.lease, stop: overtimeStop(job, setting) } } });
    pushes.push({ agentId: job.lease.agentId, hint: { type: "cancel", buildId } });
  }
  return { changes, pushes };
};

const removeSpent = (state: PoolState, agents: string[], setting: Setting): Change[] =>
  agents.flatMap((agentId): Change[] => {
    const agent = state.agents.get(agentId);
    if (!agent || agent.spentAt === null || setting.now < agent.spentAt || state.index.holding.has(agentId)) return [];
    const gone = { kind: "agent-gone", agentId } as const;
    return [gone, ...audit(SYSTEM, "agent.remove", agentId, { name: agent.name, isEphemeral: true }, setting)];
  });

/** Agents that one sweep forgets, so that it never holds up the queue. */
export const FORGOTTEN_AT_ONCE = 100;

/** When an agent last showed that it is there. */
export const signOfLife = (state: PoolState, agentId: string, { now, rules }: Setting): number | null => {
  const agent = state.agents.get(agentId);
  const isHere = state.waiting.has(agentId) || state.index.holding.has(agentId);
  return agent ? rules.signOfLife(heardAt(state, agent), isHere, now) : null;
};

const forgetSilent = (state: PoolState, silent: readonly string[], setting: Setting): Change[] =>
  silent.flatMap((agentId): Change[] => {
    const at = signOfLife(state, agentId, setting);
    if (at === null || !setting.rules.isForgotten(at, setting.now, setting.agentMs)) return [];
    const { name } = state.agents.get(agentId)!;
    const detail = { name, lastHeartbeatAt: new Date(at).toISOString() };
    return [{ kind: "agent-gone", agentId }, ...audit(SYSTEM, "agent.forget", agentId, detail, setting)];
  });

/** From now on these builds may be given again, wherever the clock goes. */
const endRests = (state: PoolState, resting: string[], { now }: Setting): Change[] =>
  resting.flatMap((id): Change[] => {
    const job = state.jobs.get(id);
    return job && !job.lease && job.notBefore <= now ? [{ kind: "job", job: { ...job, notBefore: 0 } }] : [];
  });

/** Who did not follow a hint is passed over this time. */
const dropOffers = (state: PoolState, unfollowed: readonly string[], { now, rules }: Setting): Change[] =>
  unfollowed.flatMap((buildId): Change[] => {
    const offer = state.offers.get(buildId);
    if (!offer || !rules.offerIsOver(offer.at, now)) return [];
    const { agentId } = offer;
    const waiter = state.waiting.get(agentId);
    const dropped: Change = { kind: "offer", buildId, offer: null };
    if (!waiter) return [dropped];
    return [dropped, { kind: "waiter", agentId, waiter: { ...waiter, ignored: waiter.ignored + 1, ignoredAt: now } }];
  });

/** When a key taken from the agenda is truly due; null where it no longer is. */
export const trulyDue = (state: PoolState, key: string): number | null => {
  const id = key.slice(key.indexOf(":") + 1);
  if (key.startsWith("agent:")) return state.agents.get(id)?.spentAt ?? null;
  if (key.startsWith("alert:")) return triedAgainAt(state, id);
  const job = state.jobs.get(id);
  if (!job) return null;
  if (key.startsWith("elsewhere:")) return job.lease ? null : (job.passedOver?.until ?? null);
  return key.startsWith("lease:") ? leaseDue(job) : job.lease || job.notBefore === 0 ? null : job.notBefore;
};
