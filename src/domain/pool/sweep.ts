import { audit, type Decision, decided, type Push, type Setting, SYSTEM, underWay } from "./decision.ts";
import type { Change, JobFacts } from "./facts.ts";
import { lose } from "./lease.ts";
import { OUTAGE_MS } from "./rules.ts";
import { leaseDue, type PoolState } from "./state.ts";

/** What is overdue at this time: leases, builds that take too long, hints nobody followed, agents that are done. */
export const sweep = (state: PoolState, due: readonly string[], setting: Setting): Decision<null> => {
  const leases = due.filter((key) => key.startsWith("lease:")).map((key) => key.slice("lease:".length));
  const agents = due.filter((key) => key.startsWith("agent:")).map((key) => key.slice("agent:".length));
  const stopped = stopOvertime(state, leases, setting);
  const ended = wasAway(state, leases, setting) ? graceAll(state, setting) : endOver(state, leases, setting);
  return decided(
    null,
    [...stopped.changes, ...ended, ...removeSpent(state, agents, setting), ...dropOffers(state, setting)],
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
  return [...state.holding.values()].flatMap((id): Change[] => {
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
    if (!agent || agent.spentAt === null || setting.now < agent.spentAt || state.holding.has(agentId)) return [];
    const gone = { kind: "agent-gone", agentId } as const;
    return [gone, ...audit(SYSTEM, "agent.remove", agentId, { name: agent.name, isEphemeral: true }, setting)];
  });

const dropOffers = (state: PoolState, { now, rules }: Setting): Change[] => {
  const changes: Change[] = [];
  for (const [buildId, { agentId, at }] of state.offers) {
    if (!rules.offerIsOver(at, now)) continue;
    changes.push({ kind: "offer", buildId, offer: null });
    const waiter = state.waiting.get(agentId);
    if (!waiter) continue;
    changes.push({ kind: "waiter", agentId, waiter: { ...waiter, ignored: waiter.ignored + 1, ignoredAt: now } });
  }
  return changes;
};

/** When a key taken from the agenda is truly due; null where it no longer is. */
export const trulyDue = (state: PoolState, key: string): number | null => {
  const id = key.slice(key.indexOf(":") + 1);
  if (key.startsWith("agent:")) return state.agents.get(id)?.spentAt ?? null;
  const job = state.jobs.get(id);
  if (!job) return null;
  return key.startsWith("lease:") ? leaseDue(job) : job.lease || job.notBefore === 0 ? null : job.notBefore;
};
