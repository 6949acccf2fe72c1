import type { AgentFacts } from "../state/agent-facts.ts";
import type { DecisionContext } from "../state/decision.ts";
import { byQueueOrder, type Lane, type LaneSemaphore, type QueuedJob } from "../state/queue.ts";
import type { Holders } from "../state/semaphores.ts";
import type { PoolState } from "../state/state.ts";

/** The jobs that the pool offers to agents, and the holders of each semaphore, including holders by offers. */
export interface Reservations {
  has(jobId: string): boolean;
  holders(state: PoolState, semaphore: string): Holders;
}

/** Reserves nothing. Use this when an agent claims a job: offers to other agents do not count then. */
export const NO_RESERVATIONS: Reservations = {
  has: () => false,
  holders: ({ index }, semaphore) => index.semaphores.holders(semaphore),
};

/** Reports whether each semaphore of the lane's jobs may have another holder. */
export const isLaneFree = (state: PoolState, lane: Lane, reserved: Reservations, { rules }: DecisionContext): boolean =>
  lane.semaphores.every((semaphore) => {
    if (semaphore.limit === null) return true;
    const holders = reserved.holders(state, semaphore.key);
    return (
      (semaphore.holder !== null && holders.has(semaphore.holder)) ||
      rules.hasRoom(holders.size, effectiveLimit(state, semaphore))
    );
  });

/**
 * Returns the limit that applies. A concurrency group has the smallest limit of its members, in whatever order they
 * arrived.
 */
export const effectiveLimit = (
  { queue, index }: PoolState,
  { key, limit }: Pick<LaneSemaphore, "key" | "limit">,
): number | null => {
  if (!isGroup(key) || limit === null) return limit;
  const waiting = [...queue.lanesIn(key)].flatMap(({ semaphores }) =>
    semaphores.filter((semaphore) => semaphore.key === key),
  );
  const limits = [...index.semaphores.holdersAndOffers(key).values(), ...waiting].map((semaphore) => semaphore.limit);
  return Math.min(limit, ...limits.filter((other) => other !== null));
};

export const isGroup = (semaphore: string): boolean => semaphore.startsWith("group ");

/**
 * Returns the first job in queue order that the agent may have and that is not reserved. Other jobs never block this
 * job.
 */
export const firstJobFor = (
  state: PoolState,
  agent: AgentFacts,
  reserved: Reservations,
  context: DecisionContext,
): QueuedJob | undefined => {
  const { meets, isNotFor, runsLane } = context.rules;
  const isOpen = ({ id }: QueuedJob) => {
    const job = state.jobs.get(id)!;
    return job.notBefore <= context.now && !reserved.has(id) && !isNotFor(job, agent.id);
  };
  let first: QueuedJob | undefined;
  for (const { requires, lanes } of state.queue.classes.values()) {
    if (!meets(agent, requires)) continue;
    for (const lane of lanes.values()) {
      if (!runsLane(agent, lane) || !isLaneFree(state, lane, reserved, context)) continue;
      const job = lane.jobs.find(isOpen);
      if (job && (!first || byQueueOrder(job, first) < 0)) first = job;
    }
  }
  return first;
};
