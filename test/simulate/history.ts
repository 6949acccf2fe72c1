import type { Rules } from "../../src/queue/state/rules.ts";
import { type HandOut, SimAgent } from "./agent.ts";
import { approveHeld, retryStranger } from "./approvals.ts";
import { arriveNext } from "./arrivals.ts";
import { continueHandOut } from "./hand-out.ts";
import { checkReload, heal } from "./healing.ts";
import { hostileCall } from "./hostile-call.ts";
import type { Observer } from "./observer.ts";
import { cancelAgain, cancelJob, decideGate } from "./people.ts";
import type { Random } from "./random.ts";
import { ACTOR, Simulator } from "./simulator.ts";
import { DAY_MS } from "./specification.ts";

import { retryFailed, trigger } from "./triggers.ts";

/** The possible next events, each with its relative probability. */
const EVENT_WEIGHTS = [
  ["agent step", 42],
  ["hand-out", 22],
  ["time", 16],
  ["trigger", 7],
  ["push", 5],
  ["arrival", 7],
  ["late message", 4],
  ["hostile call", 4],
  ["cancel", 2],
  ["delete", 1],
  ["flush", 2],
  ["drain", 1],
  ["remove", 0.6],
  ["register", 0.6],
  ["revoke", 0.15],
  ["silence", 0.3],
  ["evict", 3],
  ["restore", 6],
  ["clock", 0.4],
] as const;
/** The same if files have jobs. */
const JOB_EVENT_WEIGHTS = [
  ...EVENT_WEIGHTS,
  ["gate", 6],
  ["cancel a job", 0.8],
  ["cancel again", 0.5],
  ["retry", 2],
  ["hours", 0.4],
] as const;
/** The same if strangers push too. */
const STRANGER_WEIGHTS = [
  ["approval", 8],
  ["repeat", 1.5],
] as const;
type Event = (typeof JOB_EVENT_WEIGHTS)[number][0] | (typeof STRANGER_WEIGHTS)[number][0];

const sumOf = (weights: readonly (readonly [Event, number])[]): number =>
  weights.reduce((sum, [, weight]) => sum + weight, 0);
const TOTAL_WEIGHT = sumOf(EVENT_WEIGHTS);
const TOTAL_JOB_WEIGHT = sumOf(JOB_EVENT_WEIGHTS);
const withStrangers = (weights: readonly (readonly [Event, number])[]) => {
  const all = [...weights, ...STRANGER_WEIGHTS];
  return [all, sumOf(all)] as const;
};
const EVENTS_WITH_STRANGERS = withStrangers(EVENT_WEIGHTS);
const JOB_EVENTS_WITH_STRANGERS = withStrangers(JOB_EVENT_WEIGHTS);
/** Steps of time in milliseconds. Steps are short while builds are long, so that leases live through many events. */
const TIMES = [1, 500, 2_500, 7_000, 16_000, 35_000, 70_000];
const SHORT_TIMES = [1, 500, 500, 2_500, 2_500, 7_000, 16_000, 35_000];
/**
 * One random run of a pool: first events with faults, then a healing phase without any, in which every build must
 * end. Seed and index decide everything, so that it can be replayed.
 */
export class History {
  readonly simulator: Simulator;
  readonly agents: SimAgent[] = [];
  readonly #handOuts: HandOut[] = [];
  /** A history has restores or clock jumps, never both: across the two no fence could grow. */
  readonly #canRestore: boolean;
  #restorePoint: (() => void) | null = null;

  constructor(seed: number, index: number, rules: Rules, observer?: Observer) {
    this.simulator = new Simulator(seed, index, rules, observer);
    const { random } = this.simulator;
    this.#canRestore = random.chance(0.5);
    const count = 2 + random.below(3);
    for (let made = 0; made < count; made++) this.#register();
  }

  /** @throws Violation if an invariant does not hold */
  run(
    events = (40 + this.simulator.random.below(80)) *
      (this.simulator.hasLongBuilds ? 4 : 1) *
      (this.simulator.hasJobs ? 1.5 : 1),
  ): void {
    if (this.simulator.random.chance(0.02)) this.#loseAllAnswers();
    for (let event = 0; event < events; event++) this.#nextEvent();
    heal(this.simulator, this.agents, this.#handOuts);
    checkReload(this.simulator);
  }

  /** No answer reaches any agent for 25 rounds: leases end unstarted, one after the other. */
  #loseAllAnswers(): void {
    this.simulator.note("no answer reaches any agent for 25 rounds");
    trigger(this.simulator);
    for (let round = 0; round < 25; round++) {
      for (const agent of this.agents) agent.pollWithoutAnswer();
      this.simulator.advanceTime(31_000);
    }
  }

  #nextEvent(): void {
    const { random } = this.simulator;
    History.#events[this.#pickEvent()](this, this.simulator, random);
  }

  #pickEvent(): Event {
    const { random, hasJobs, hasForks } = this.simulator;
    if (hasForks) return random.weighted(...(hasJobs ? JOB_EVENTS_WITH_STRANGERS : EVENTS_WITH_STRANGERS));
    return hasJobs
      ? random.weighted(JOB_EVENT_WEIGHTS, TOTAL_JOB_WEIGHT)
      : random.weighted(EVENT_WEIGHTS, TOTAL_WEIGHT);
  }

  static readonly #events: Record<Event, (history: History, simulator: Simulator, random: Random) => unknown> = {
    "agent step": (history, _simulator, random) => random.pick(history.agents).step(history.#handOuts),
    "hand-out": (history, simulator) => continueHandOut(simulator, history.#handOuts),
    time: (_history, simulator, random) =>
      simulator.advanceTime(random.pick(simulator.hasLongBuilds ? SHORT_TIMES : TIMES)),
    trigger: (_history, simulator) => trigger(simulator),
    push: (_history, simulator) => simulator.repository.move(),
    arrival: (_history, simulator) => arriveNext(simulator),
    "late message": (history) => history.#deliverLateMessage(),
    "hostile call": ({ agents }, simulator) => hostileCall(simulator, agents),
    cancel: (history) => history.#cancel(),
    delete: (history) => history.#delete(),
    flush: (_history, { deliveries }, random) => (random.chance(0.6) ? deliveries.flush() : deliveries.tellHosts()),
    drain: (history, _simulator, random) => history.#drain(random.chance(0.5)),
    remove: (history) => history.#remove(),
    register: (history) => history.#register(),
    revoke: (history) => history.#revoke(),
    silence: (history) => history.#passMonths(),
    evict: (_history, simulator) => simulator.injectFault("object evicted", 1) && simulator.evict(),
    restore: (history) => history.#canRestore && history.#saveOrRestore(),
    clock: (history) => !history.#canRestore && history.#jumpClock(),
    gate: (_history, simulator) => decideGate(simulator),
    "cancel a job": (_history, simulator) => cancelJob(simulator),
    "cancel again": (_history, simulator) => cancelAgain(simulator),
    retry: (_history, simulator) => retryFailed(simulator),
    approval: (_history, simulator) => approveHeld(simulator),
    repeat: (_history, simulator) => retryStranger(simulator),
    hours: (_history, simulator, random) => simulator.advanceTime(random.pick([100_000, 320_000, 3_700_000])),
  };

  #deliverLateMessage(): void {
    const { delayedMessages, random } = this.simulator;
    const [message] = delayedMessages.splice(random.below(delayedMessages.length), 1);
    if (!message) return;
    this.simulator.note("a late message arrives");
    message();
  }

  #jumpClock(): void {
    const { simulator } = this;
    if (simulator.injectFault("clock jump", 1)) {
      simulator.now += simulator.random.pick([-90_000, -3_000, 40_000, 200_000]);
      // The pool counts a jump as passed time: nothing sent earlier arrives later.
      simulator.elapsed += 200_000;
    }
  }

  #register(): void {
    const { simulator } = this;
    const isEphemeral = simulator.random.chance(0.12);
    this.agents.push(new SimAgent(simulator, { isEphemeral }));
  }

  #cancel(): void {
    const { simulator } = this;
    if (simulator.builds.length === 0 || !simulator.injectFault("cancel", 1)) return;
    simulator.request("cancel", { buildId: simulator.random.pick(simulator.builds), actor: ACTOR });
  }

  #delete(): void {
    const { simulator } = this;
    if (simulator.builds.length === 0 || !simulator.injectFault("deletion", 1)) return;
    const deleted = simulator.random.chance(0.7) ? "build" : "log";
    const buildId = simulator.random.pick(simulator.builds);
    const { database, pool } = simulator;
    const found = database.builds.get(buildId)?.build ?? pool.storage.rows.builds.get(buildId);
    if (!found) return;
    const { repoId, number } = found;
    const seen = { repoId, number, finishedAt: null };
    simulator.request("deleteBuild", { buildId, deleted, seen, actor: ACTOR });
  }

  #drain(isDraining: boolean): void {
    const agent = this.simulator.random.pick(this.agents);
    this.simulator.call("updateAgent", { agentId: agent.id, change: { isDraining }, actor: ACTOR });
  }

  #remove(): void {
    const { simulator } = this;
    const agent = simulator.random.pick(this.agents);
    if (agent.isUnregistered || !simulator.injectFault("removal", 1, agent.id)) return;
    const answer = simulator.call("removeAgent", { agentId: agent.id, actor: ACTOR });
    if (answer.ok) simulator.sockets.delete(agent.id);
  }

  /** No message is delayed that long, so late ones are dropped. */
  #passMonths(): void {
    const { simulator } = this;
    if (!simulator.injectFault("months of silence", 1)) return;
    simulator.delayedMessages.length = 0;
    for (const delivery of simulator.repository.onWay.splice(0)) simulator.repository.tear(delivery);
    simulator.advanceTime(simulator.random.pick([50, 95]) * DAY_MS);
  }

  /** Revokes the registration token with all its agents. The next agents register with another one. */
  #revoke(): void {
    const { simulator } = this;
    if (!simulator.injectFault("token revoked", 1, simulator.registrationToken)) return;
    const revocation = { tokenId: simulator.registrationToken, wasThere: true, actor: ACTOR };
    const answer = simulator.call("removeAgentsOf", revocation);
    if (answer.ok) for (const id of answer.value.removed) simulator.sockets.delete(id);
    simulator.database.revokeToken(simulator.now, simulator.registrationToken);
    simulator.registrationToken = simulator.newId("t");
    this.#register();
  }

  #saveOrRestore(): void {
    const { simulator } = this;
    const { pool } = simulator;
    if (this.#restorePoint) {
      if (!simulator.injectFault("restore", 1)) return;
      this.#restorePoint();
      this.#restorePoint = null;
      return;
    }
    simulator.note("restore point: a later restore returns to here");
    simulator.now += 1_000; // Versions may be ahead of the clock: later events are later than all of them.
    const restoreDatabase = simulator.database.snapshot();
    const rows = pool.storage.snapshot();
    const observed = pool.checker.snapshot();
    const side = simulator.random.pick(["pool", "database", "both"]);
    this.#restorePoint = () => {
      simulator.note(`restored: ${side}`);
      simulator.now += 5_000;
      if (side !== "pool") restoreDatabase();
      if (side === "database") return;
      pool.storage.rows = rows;
      pool.checker.observed = observed;
      simulator.poolRestores++;
      simulator.gitHosts.mayRunAgain = true;
      simulator.database.poolWasRestored();
      pool.checker.poolWasRestored(simulator.database.stored());
      simulator.evict(true);
      simulator.awayAfterRestore = simulator.random.pick([0, 0, 5, 20]);
    };
  }
}
