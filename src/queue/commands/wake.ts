import type { AgentFacts } from "../state/agent-facts.ts";
import { type DecisionContext, findLeasedEntry, patchBuild } from "../state/decision.ts";
import type { BuildFacts, Change, JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { latestPause } from "./pause.ts";

/** What the agent's socket remembers of the last heartbeat on it, also while the pool hibernates. */
export interface RenewedLease {
  fence: number;
  expiresAt: number;
}

/** What the pool finds of an agent's sockets when it wakes. */
export interface AgentSockets {
  /** Until when the agent waits: null on its own socket, undefined where each is closing. */
  until: number | null | undefined;
  /** Whether one of them is the agent's own, open or closing: a close that is under way is seen later. */
  hasOwn: boolean;
  kept: RenewedLease | null;
}

/**
 * Takes up the agents with sockets, before anything that is overdue ends. A lease that was kept by a socket which is gone
 * gets its time once more: nobody could see the socket close, and the agent may be on its way back.
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

/** A build whose plan cannot be read any more: nobody can tell what is left to do. */
const endUnplanned = (state: PoolState, build: BuildFacts, context: DecisionContext): Change[] => {
  if (build.until === null || state.graphs.has(build.id)) return [];
  const message = "What was stored of its jobs is damaged.";
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

/** A deadline that is stored as it is, of a lease that no socket keeps. */
const storedDeadline = (expiresAt: number) => ({ expiresAt, writtenUntil: expiresAt, keptBy: null });

/** Stores the deadline of a lease whose socket was closed: from now on memory and disk have the same. */
export const settleLease = (state: PoolState, agentId: string): Change[] => {
  const job = findLeasedEntry(state, agentId)?.job;
  if (job?.lease?.keptBy !== "socket") return [];
  return [{ kind: "job", job: { ...job, lease: { ...job.lease, ...storedDeadline(job.lease.expiresAt) } } }];
};

/** An agent that was heard of just now, and has no socket of its own any more. */
export const withoutSocket = (agent: AgentFacts, now: number): AgentFacts => {
  const { hasSocket: _, ...rest } = agent;
  return { ...rest, heardAt: Math.max(agent.heardAt, now) };
};
