import type { DecisionContext } from "./decision.ts";
import type { AgentFacts } from "./facts.ts";
import { byQueueOrder, type Lane, type LaneRoom, type QueuedJob } from "./queue.ts";
import type { Holders } from "./rooms.ts";
import type { PoolState } from "./state.ts";

/** Queued jobs that are offered to an agent, and who holds a room where offers count. */
export interface Reservations {
  has(jobId: string): boolean;
  holders(state: PoolState, room: string): Holders;
}

/** Offers to others do not count for an agent that claims. */
export const NO_RESERVATIONS: Reservations = {
  has: () => false,
  holders: ({ index }, room) => index.rooms.held(room),
};

/** Whether each room that jobs of the lane need has room for one more. */
export const hasRoom = (state: PoolState, lane: Lane, reserved: Reservations, { rules }: DecisionContext): boolean =>
  lane.rooms.every((room) => {
    if (room.limit === null) return true;
    const holders = reserved.holders(state, room.key);
    return (room.holder !== null && holders.has(room.holder)) || rules.hasRoom(holders.size, limitOf(state, room));
  });

/** The limit of a concurrency group is the smallest of those who are in it, whoever came first. */
export const limitOf = (
  { queue, index }: PoolState,
  { key, limit }: Pick<LaneRoom, "key" | "limit">,
): number | null => {
  if (!isGroup(key) || limit === null) return limit;
  const waiting = [...queue.lanesIn(key)].flatMap(({ rooms }) => rooms.filter((room) => room.key === key));
  const limits = [...index.rooms.taken(key).values(), ...waiting].map((room) => room.limit);
  return Math.min(limit, ...limits.filter((other) => other !== null));
};

export const isGroup = (room: string): boolean => room.startsWith("group ");

/** The first job in queue order that the agent may have and that is not reserved. Others never block it. */
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
      if (!runsLane(agent, lane) || !hasRoom(state, lane, reserved, context)) continue;
      const job = lane.jobs.find(isOpen);
      if (job && (!first || byQueueOrder(job, first) < 0)) first = job;
    }
  }
  return first;
};
