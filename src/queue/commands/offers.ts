import { type Decision, type DecisionContext, decided, findEntry, type Push, toHint } from "../state/decision.ts";
import type { Change, JobFacts } from "../state/facts.ts";
import { lanesWithin } from "../state/indices.ts";
import type { Lane } from "../state/queue.ts";
import { type Holders, semaphoresOfJob } from "../state/semaphores.ts";
import type { PoolState } from "../state/state.ts";
import { firstJobFor, isLaneFree, type Reservations } from "./match.ts";
import { isPaused } from "./pause.ts";

/**
 * Offers each job to one waiting agent that could take it. Checks only jobs and agents that may have begun to fit each
 * other since the last step. Iterates over jobs first, so that the agent that has waited longest gets the offer.
 */
export const offerBuilds = (state: PoolState, context: DecisionContext): Decision<null> => {
  const { unmatched, idleWaiters } = state.index;
  if (isWithheld(state, context)) return decided(null);
  if (unmatched.lanes.size === 0 && unmatched.agents.size === 0) return decided(null);
  if (idleWaiters.size === 0 || state.queue.size === 0) return decided(null, [{ kind: "matched" }]);
  const lanes = new Set(unmatched.lanes);
  const round = new OfferRound(state, lanes, context);
  offerLanes(state, lanes, round, context);
  for (const agentId of unmatched.agents) {
    if (round.isOver) break;
    const agent = state.agents.get(agentId)!;
    const job = round.isOpenTo(agentId) && firstJobFor(state, agent, round, context);
    if (job) round.add(agentId, job.id);
    offerLanes(state, lanes, round, context);
  }
  // If the round allowed only one offer, the next step must still check the rest.
  const matchedChange: Change[] = round.isOver ? [] : [{ kind: "matched" }];
  return decided(null, [...round.changes, ...matchedChange], round.pushes);
};

/** Reports whether the pool withholds offers. It withholds all in a pause, and all except one after it. */
const isWithheld = (state: PoolState, { now }: DecisionContext): boolean =>
  isPaused(state, now) || (state.pause !== null && state.offers.size > 0);

/**
 * Offers the lanes' jobs. An offer reserves a semaphore for all jobs of its build. The lanes of these jobs may then be
 * free, and are checked again.
 */
const offerLanes = (state: PoolState, lanes: Set<Lane>, round: OfferRound, context: DecisionContext): void => {
  for (const lane of lanes) {
    if (round.isOver) return;
    lanes.delete(lane);
    offerLane(state, lane, round, context);
  }
};

const offerLane = (state: PoolState, lane: Lane, round: OfferRound, context: DecisionContext): void => {
  for (const { id } of lane.jobs) {
    if (round.isOver || !isLaneFree(state, lane, round, context)) return;
    const job = state.jobs.get(id)!;
    if (round.has(id) || job.notBefore > context.now) continue;
    const agentId = longestWaiterFor(state, lane, job, round, context);
    if (agentId !== undefined) round.add(agentId, id);
    else if (job.releasedBy.length === 0 && !job.passedOver) return;
  }
};

/** Returns the agent that has waited longest among the agents that may have the job. */
const longestWaiterFor = (
  state: PoolState,
  lane: Lane,
  job: JobFacts,
  round: OfferRound,
  { rules }: DecisionContext,
): string | undefined => {
  for (const waiters of state.index.idleWaiters.values()) {
    for (const id of waiters) {
      const agent = state.agents.get(id)!;
      if (!rules.meets(agent, lane.requirementClass.requires) || !rules.runsLane(agent, lane)) break;
      if (round.isOpenTo(id) && !rules.isNotFor(job, id)) return id;
    }
  }
  return undefined;
};

/** The open offers, with this step's offers. Both reserve their jobs as if the agents had claimed them. */
class OfferRound implements Reservations {
  readonly changes: Change[] = [];
  readonly pushes: Push[] = [];
  readonly #state: PoolState;
  readonly #lanes: Set<Lane>;
  readonly #context: DecisionContext;
  readonly #agents = new Set<string>();
  readonly #jobs = new Set<string>();
  /** For each semaphore, the new holders that this step's offers add. */
  readonly #holders = new Map<string, Set<string>>();

  /** @param lanes collects the lanes to check again after an offer */
  constructor(state: PoolState, lanes: Set<Lane>, context: DecisionContext) {
    this.#state = state;
    this.#lanes = lanes;
    this.#context = context;
  }

  add(agentId: string, jobId: string): void {
    this.#agents.add(agentId);
    const entry = findEntry(this.#state, jobId)!;
    this.#jobs.add(jobId);
    for (const { key, holder } of semaphoresOfJob(this.#state, entry)) this.#take(key, holder);
    this.changes.push({ kind: "offer", jobId, offer: { agentId, at: this.#context.now } });
    this.pushes.push({ agentId, hint: toHint("look", entry.job) });
  }

  /** Reports whether this step offers no more jobs. */
  get isOver(): boolean {
    return this.#jobs.size > 0 && this.#state.pause !== null;
  }

  has(jobId: string): boolean {
    return this.#state.offers.has(jobId) || this.#jobs.has(jobId);
  }

  holders({ index }: PoolState, semaphore: string): Holders {
    const holders = index.semaphores.holdersAndOffers(semaphore);
    const newHolders = this.#holders.get(semaphore);
    if (!newHolders) return holders;
    return { size: holders.size + newHolders.size, has: (holder) => holders.has(holder) || newHolders.has(holder) };
  }

  #take(semaphore: string, holder: string): void {
    if (this.#state.index.semaphores.holdersAndOffers(semaphore).has(holder)) return;
    this.#holders.set(semaphore, (this.#holders.get(semaphore) ?? new Set()).add(holder));
    for (const lane of lanesWithin(this.#state, { key: semaphore, holder })) this.#lanes.add(lane);
  }

  /** Reports whether the agent could take a job if it got an offer now. */
  isOpenTo(agentId: string): boolean {
    const { now, rules } = this.#context;
    const waiter = this.#state.waiters.get(agentId);
    const agent = this.#state.agents.get(agentId);
    return (
      !!agent && !!waiter && !this.#agents.has(agentId) && rules.takesBuilds(agent, now) && rules.isAlert(waiter, now)
    );
  }
}
