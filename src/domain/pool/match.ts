import type { Setting } from "./decision.ts";
import type { AgentFacts } from "./facts.ts";
import type { Lane, Place } from "./queue.ts";
import type { PoolState } from "./state.ts";

export const liveOf = (state: PoolState, pipelineId: string | null): number =>
  pipelineId === null ? 0 : (state.live.get(pipelineId) ?? 0);

/** Whether this very build, of a lane that fits the agent, may go to it now. */
const isOpenTo = (state: PoolState, agentId: string, { id }: Place, { now, rules }: Setting): boolean => {
  const job = state.jobs.get(id)!;
  return rules.isDue(job, now) && !job.releasedBy.includes(agentId);
};

const fits = (state: PoolState, agent: AgentFacts, lane: Lane, { rules }: Setting): boolean =>
  rules.meets(agent, lane.requires) && rules.hasRoom(liveOf(state, lane.pipelineId), lane.maxParallel);

/** The first build in queue order that the agent may have: one it may not have never stands in the way. */
export const firstFor = (state: PoolState, agent: AgentFacts, setting: Setting): Place | undefined => {
  let first: Place | undefined;
  for (const lane of state.queue.lanes.values()) {
    if (!fits(state, agent, lane, setting)) continue;
    const place = lane.places.find((candidate) => isOpenTo(state, agent.id, candidate, setting));
    if (place && (!first || setting.rules.comesFirst(place, first))) first = place;
  }
  return first;
};
