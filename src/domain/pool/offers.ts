import { type Decision, type DecisionContext, decided, type Push } from "./decision.ts";
import type { Change, JobFacts } from "./facts.ts";
import { firstBuildFor, hasRoom, type Reservations } from "./match.ts";
import type { Lane } from "./queue.ts";
import type { PoolState } from "./state.ts";

/**
 * One waiter is told to look for each build that one could take. Only builds and waiters that may fit each other
 * since the last time are looked at, builds first: so each goes to who waits longest, not to who has just come.
 */
export const offerBuilds = (state: PoolState, context: DecisionContext): Decision<null> => {
  const { lanes, agents } = state.index.unmatched;
  if (lanes.size === 0 && agents.size === 0) return decided(null);
  const hints = new OfferRound(state, context);
  if (state.index.idleWaiters.size > 0 && state.queue.size > 0) {
    for (const lane of lanes) offerLane(state, lane, hints, context);
    for (const agentId of agents) {
      const agent = state.agents.get(agentId)!;
      const place = hints.isOpenTo(agentId) && firstBuildFor(state, agent, hints, context);
      if (place) hints.add(agentId, place.id);
    }
  }
  return decided(null, [...hints.changes, { kind: "matched" }], hints.pushes);
};

const offerLane = (state: PoolState, lane: Lane, hints: OfferRound, context: DecisionContext): void => {
  for (const { id } of lane.builds) {
    if (!hasRoom(state, lane, hints, context)) return;
    const job = state.jobs.get(id)!;
    if (hints.has(id) || !context.rules.isDue(job, context.now)) continue;
    const agentId = longestWaiterFor(state, lane, job, hints, context);
    if (agentId !== undefined) hints.add(agentId, id);
    else if (job.releasedBy.length === 0 && !job.passedOver) return;
  }
};

/** The agent that waits longest of those alike, and that did not give the build back. */
const longestWaiterFor = (
  state: PoolState,
  { requirementClass }: Lane,
  job: JobFacts,
  hints: OfferRound,
  { rules }: DecisionContext,
): string | undefined => {
  for (const alike of state.index.idleWaiters.values()) {
    for (const id of alike) {
      if (!rules.meets(state.agents.get(id)!, requirementClass.requires)) break;
      if (hints.isOpenTo(id) && !rules.isNotFor(job, id)) return id;
    }
  }
  return undefined;
};

/** Hints that stand and those given now, which count as if their builds had been claimed. */
class OfferRound implements Reservations {
  readonly changes: Change[] = [];
  readonly pushes: Push[] = [];
  readonly #state: PoolState;
  readonly #context: DecisionContext;
  readonly #agents = new Set<string>();
  readonly #builds = new Map<string, string | null>();

  constructor(state: PoolState, context: DecisionContext) {
    this.#state = state;
    this.#context = context;
  }

  add(agentId: string, buildId: string): void {
    this.#agents.add(agentId);
    this.#builds.set(buildId, this.#state.builds.get(buildId)!.pipelineId);
    this.changes.push({ kind: "offer", buildId, offer: { agentId, at: this.#context.now } });
    this.pushes.push({ agentId, hint: { type: "look", buildId } });
  }

  has(buildId: string): boolean {
    return this.#state.offers.has(buildId) || this.#builds.has(buildId);
  }

  countIn(pipelineId: string): number {
    let coming = this.#state.index.offeredByPipeline.get(pipelineId) ?? 0;
    for (const its of this.#builds.values()) if (its === pipelineId) coming++;
    return coming;
  }

  /** Whether the agent could take a build if it were told to look. */
  isOpenTo(agentId: string): boolean {
    const { now, rules } = this.#context;
    const waiter = this.#state.waiters.get(agentId);
    const agent = this.#state.agents.get(agentId);
    return (
      !!agent && !!waiter && !this.#agents.has(agentId) && rules.takesBuilds(agent, now) && rules.isAlert(waiter, now)
    );
  }
}
