import type { AgentFacts } from "../state/agent-facts.ts";
import { type DecisionContext, findLeasedEntry, patchBuild } from "../state/decision.ts";
import type { BuildFacts, Change, JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { latestPause } from "./pause.ts";

/** The facts about an agent's last heartbeat that its socket remembers, even while the pool hibernates. */
export interface RenewedLease {
  fence: number;
  expiresAt: number;
}

/** The state of an agent's sockets when the pool wakes up. */
export interface AgentSockets {
  /**
   * The time until which the agent waits. Null if it waits on its own socket; undefined if all of its sockets are
   * closing.
   */
  until: number | null | undefined;
  /** Whether one of the sockets is the agent's own, open or closing. The pool sees a close in progress later. */
  hasOwn: boolean;
  kept: RenewedLease | null;
}

/**
 * Restores the agents with sockets, before the pool ends anything overdue. If a lease's socket is gone, the lease gets
 * its full time again: the pool could not see the socket close, and the agent may be about to return.
 */
export const wake = (
  state: PoolState,
  sockets: ReadonlyMap<string, AgentSockets>,
  context: DecisionContext,
): Change[] => [
  { kind: "pause", pause: latestPause(state) },
  ...[...sockets].flatMap(([agentId, { until }]): Change[] =>
    until === undefined || !state.agents.has(agentId)
      ? []
      : [{ kind: "waiter", agentId, waiter: { until, ignored: 0, ignoredAt: 0 } }],
  ),
  ...[...state.index.holding].flatMap(([agentId, jobId]) =>
    wakeLease(state.jobs.get(jobId)!, sockets.get(agentId), context),
  ),
  ...[...state.builds.values()].flatMap((build) => endUnplanned(state, build, context)),
  ...[...state.agents.values()].flatMap((agent): Change[] => {
    const isLost = agent.hasSocket && !sockets.get(agent.id)?.hasOwn;
    return isLost ? [{ kind: "agent", agent: withoutSocket(agent, context.now) }] : [];
  }),
];

/** Ends a build whose plan cannot be read any more, because its remaining work is unknown. */
const endUnplanned = (state: PoolState, build: BuildFacts, context: DecisionContext): Change[] => {
  if (build.until === null || state.graphs.has(build.id)) return [];
  const message = "The stored data of its jobs is damaged.";
  const failed = { status: "failed", exitCode: null, reason: "agent-error", message } as const;
  return patchBuild(build, { ...failed, finishedAt: context.now }, context);
};

const wakeLease = (job: JobFacts, sockets: AgentSockets | undefined, context: DecisionContext): Change[] => {
  const { now, leaseMs, rules } = context;
  const lease = job.lease!;
  const keptUntil = sockets?.kept?.fence === lease.fence ? sockets.kept.expiresAt : 0;
  const expiresAt = Math.max(lease.expiresAt, keptUntil);
  const renewedLease = { ...lease, expiresAt };
  const hasLostSocket = lease.keptBy === "socket" && !sockets?.hasOwn;
  if (hasLostSocket && !lease.graced) {
    const extension = rules.extended(renewedLease, now, leaseMs);
    return [{ kind: "job", job: { ...job, lease: { ...lease, ...storedDeadline(extension), graced: true } } }];
  }
  return expiresAt === lease.expiresAt ? [] : [{ kind: "renewal", jobId: job.id, expiresAt }];
};

/** Returns a deadline that the pool stores as it is, for a lease that no socket keeps. */
const storedDeadline = (expiresAt: number) => ({ expiresAt, writtenUntil: expiresAt, keptBy: null });

/** Stores the deadline of a lease whose socket was closed. From then on, memory and disk agree. */
export const settleLease = (state: PoolState, agentId: string): Change[] => {
  const job = findLeasedEntry(state, agentId)?.job;
  if (job?.lease?.keptBy !== "socket") return [];
  return [{ kind: "job", job: { ...job, lease: { ...job.lease, ...storedDeadline(job.lease.expiresAt) } } }];
};

/** Returns an agent that has just made contact and no longer has its own socket. */
export const withoutSocket = (agent: AgentFacts, now: number): AgentFacts => {
  const { hasSocket: _, ...rest } = agent;
  return { ...rest, heardAt: Math.max(agent.heardAt, now) };
};
