import type { DecisionContext } from "./decision.ts";
import type { AgentFacts } from "./facts.ts";
import type { Lane, QueuedBuild } from "./queue.ts";
import type { PoolState } from "./state.ts";

/** Builds that are as good as taken, and how many of them there are in a pipeline. */
export interface Reservations {
  has(buildId: string): boolean;
  countIn(pipelineId: string): number;
}

export const NO_RESERVATIONS: Reservations = { has: () => false, countIn: () => 0 };

export const countLeased = (state: PoolState, pipelineId: string | null): number =>
  pipelineId === null ? 0 : (state.index.leasedByPipeline.get(pipelineId) ?? 0);

/** Whether one more build of the lane may be live. */
export const hasRoom = (state: PoolState, lane: Lane, promised: Reservations, { rules }: DecisionContext): boolean => {
  const { pipelineId, maxParallel } = lane;
  return rules.hasRoom(
    countLeased(state, pipelineId) + (pipelineId === null ? 0 : promised.countIn(pipelineId)),
    maxParallel,
  );
};

/**
 * The first build in queue order that the agent may have and that is promised to nobody: one that it may not have
 * never stands in the way.
 */
export const firstBuildFor = (
  state: PoolState,
  agent: AgentFacts,
  promised: Reservations,
  context: DecisionContext,
): QueuedBuild | undefined => {
  const { meets, comesFirst, isDue, isNotFor } = context.rules;
  const isOpen = ({ id }: QueuedBuild) => {
    const job = state.jobs.get(id)!;
    return isDue(job, context.now) && !promised.has(id) && !isNotFor(job, agent.id);
  };
  let first: QueuedBuild | undefined;
  for (const { requires, lanes } of state.queue.classes.values()) {
    if (!meets(agent, requires)) continue;
    for (const lane of lanes.values()) {
      if (!hasRoom(state, lane, promised, context)) continue;
      const place = lane.builds.find(isOpen);
      if (place && (!first || comesFirst(place, first))) first = place;
    }
  }
  return first;
};
