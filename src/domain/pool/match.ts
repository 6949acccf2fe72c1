import type { DecisionContext } from "./decision.ts";
import type { AgentFacts } from "./facts.ts";
import type { Lane, QueuedBuild } from "./queue.ts";
import type { PoolState } from "./state.ts";

/** Queued builds that are offered to an agent, and how many of them belong to a pipeline. */
export interface Reservations {
  has(buildId: string): boolean;
  countIn(pipelineId: string): number;
}

export const NO_RESERVATIONS: Reservations = { has: () => false, countIn: () => 0 };

export const countLeased = (state: PoolState, pipelineId: string | null): number =>
  pipelineId === null ? 0 : (state.index.leasedByPipeline.get(pipelineId) ?? 0);

/** Whether the pipeline's limit of parallel builds leaves room for one more build of the lane. */
export const hasRoom = (state: PoolState, lane: Lane, reserved: Reservations, { rules }: DecisionContext): boolean => {
  const { pipelineId, maxParallel } = lane;
  const reservedCount = pipelineId === null ? 0 : reserved.countIn(pipelineId);
  return rules.hasRoom(countLeased(state, pipelineId) + reservedCount, maxParallel);
};

/** The first build in queue order that the agent may have and that is not reserved. Others never block it. */
export const firstBuildFor = (
  state: PoolState,
  agent: AgentFacts,
  reserved: Reservations,
  context: DecisionContext,
): QueuedBuild | undefined => {
  const { meets, comesFirst, isDue, isNotFor } = context.rules;
  const isOpen = ({ id }: QueuedBuild) => {
    const job = state.jobs.get(id)!;
    return isDue(job, context.now) && !reserved.has(id) && !isNotFor(job, agent.id);
  };
  let first: QueuedBuild | undefined;
  for (const { requires, lanes } of state.queue.classes.values()) {
    if (!meets(agent, requires)) continue;
    for (const lane of lanes.values()) {
      if (!hasRoom(state, lane, reserved, context)) continue;
      const build = lane.builds.find(isOpen);
      if (build && (!first || comesFirst(build, first))) first = build;
    }
  }
  return first;
};
