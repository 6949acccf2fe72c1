import type { DecisionContext } from "./decision.ts";
import type { AgentFacts } from "./facts.ts";
import type { Lane, Place } from "./queue.ts";
import type { PoolState } from "./state.ts";

/** Builds that are as good as taken, and how many of them there are in a pipeline. */
export interface Promised {
  has(buildId: string): boolean;
  in(pipelineId: string): number;
}

export const NOTHING_PROMISED: Promised = { has: () => false, in: () => 0 };

export const leasedBuilds = (state: PoolState, pipelineId: string | null): number =>
  pipelineId === null ? 0 : (state.index.leased.get(pipelineId) ?? 0);

/** Whether one more build of the lane may be live. */
export const hasRoom = (state: PoolState, lane: Lane, promised: Promised, { rules }: DecisionContext): boolean => {
  const { pipelineId, maxParallel } = lane;
  return rules.hasRoom(
    leasedBuilds(state, pipelineId) + (pipelineId === null ? 0 : promised.in(pipelineId)),
    maxParallel,
  );
};

/**
 * The first build in queue order that the agent may have and that is promised to nobody: one that it may not have
 * never stands in the way.
 */
export const firstFor = (
  state: PoolState,
  agent: AgentFacts,
  promised: Promised,
  context: DecisionContext,
): Place | undefined => {
  const { meets, comesFirst, isDue, isNotFor } = context.rules;
  const isOpen = ({ id }: Place) => {
    const job = state.jobs.get(id)!;
    return isDue(job, context.now) && !promised.has(id) && !isNotFor(job, agent.id);
  };
  let first: Place | undefined;
  for (const { requires, lanes } of state.queue.classes.values()) {
    if (!meets(agent, requires)) continue;
    for (const lane of lanes.values()) {
      if (!hasRoom(state, lane, promised, context)) continue;
      const place = lane.places.find(isOpen);
      if (place && (!first || comesFirst(place, first))) first = place;
    }
  }
  return first;
};
