import { type Decision, decided, type Push, type Setting } from "./decision.ts";
import type { Change } from "./facts.ts";
import { liveOf } from "./match.ts";
import type { Lane, Place } from "./queue.ts";
import type { PoolState } from "./state.ts";

interface Chance {
  lane: Lane;
  place: Place;
  agentId: string;
}

/** One waiter is told to look for each build that one could take, the first builds first. */
export const wake = (state: PoolState, setting: Setting): Decision<null> => {
  if (state.idle.size === 0 || state.queue.size === 0) return decided(null);
  const woken = new Set<string>();
  const told = new Set<string>(state.offers.keys());
  const coming = comingTo(state);
  const changes: Change[] = [];
  const pushes: Push[] = [];
  const chances = [...state.queue.lanes.values()];
  for (;;) {
    const chance = best(
      chances.flatMap((lane) => chanceIn(state, lane, woken, told, coming, setting) ?? []),
      setting,
    );
    if (!chance) return decided(null, changes, pushes);
    const { place, agentId, lane } = chance;
    woken.add(agentId);
    told.add(place.id);
    if (lane.pipelineId) coming.set(lane.pipelineId, (coming.get(lane.pipelineId) ?? 0) + 1);
    changes.push({ kind: "offer", buildId: place.id, offer: { agentId, at: setting.now } });
    pushes.push({ agentId, hint: { type: "look", buildId: place.id } });
  }
};

/** Builds of a pipeline that a woken waiter is about to claim: they need room as if it had. */
const comingTo = (state: PoolState): Map<string, number> => {
  const coming = new Map<string, number>();
  for (const buildId of state.offers.keys()) {
    const pipelineId = state.builds.get(buildId)?.pipelineId;
    if (pipelineId) coming.set(pipelineId, (coming.get(pipelineId) ?? 0) + 1);
  }
  return coming;
};

const best = (chances: Chance[], { rules }: Setting): Chance | undefined =>
  chances.reduce<Chance | undefined>(
    (first, chance) => (first && !rules.comesFirst(chance.place, first.place) ? first : chance),
    undefined,
  );

const chanceIn = (
  state: PoolState,
  lane: Lane,
  woken: Set<string>,
  told: Set<string>,
  coming: Map<string, number>,
  setting: Setting,
): Chance | undefined => {
  const taken = liveOf(state, lane.pipelineId) + (coming.get(lane.pipelineId ?? "") ?? 0);
  if (!setting.rules.hasRoom(taken, lane.maxParallel)) return undefined;
  for (const place of lane.places) {
    const job = state.jobs.get(place.id)!;
    if (told.has(place.id) || !setting.rules.isDue(job, setting.now)) continue;
    for (const agentId of waiters(state, lane, woken, setting)) {
      if (!job.releasedBy.includes(agentId)) return { lane, place, agentId };
    }
    if (job.releasedBy.length === 0) return undefined;
  }
  return undefined;
};

const waiters = function* (state: PoolState, lane: Lane, woken: Set<string>, { now, rules }: Setting) {
  for (const alike of state.idle.values()) {
    for (const id of alike) {
      const agent = state.agents.get(id)!;
      if (!rules.meets(agent, lane.requires)) break;
      if (!woken.has(id) && rules.takesBuilds(agent, now) && rules.isAlert(state.waiting.get(id)!, now)) yield id;
    }
  }
};
