import { LIMITS } from "../../src/protocol/limits.ts";
import { ORGANIZATION_LIMITS } from "../../src/protocol/organization.ts";
import type { Result } from "../../src/queue/commands/commands.ts";
import { type Command, type InputOf, nextDue, type OutputOf, step } from "../../src/queue/commands/step.ts";
import { type AgentSockets, wake } from "../../src/queue/commands/wake.ts";
import { apply } from "../../src/queue/state/apply.ts";
import type { DecisionContext, Push } from "../../src/queue/state/decision.ts";
import type { Change } from "../../src/queue/state/facts.ts";
import type { Rules } from "../../src/queue/state/rules.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import type { PlantedRule } from "../support/plant.ts";
import { Checker } from "./checker.ts";
import type { Observations } from "./observations.ts";
import type { Observer } from "./observer.ts";
import { AGENT_MS, LEASE_MS, START_MS, STORED_FOR_MS } from "./specification.ts";
import { SimStorage } from "./storage.ts";

/** Rules, a planted wrong rule, and a manipulation of the state before a call that no rule decides. */
export interface WrongRules extends Rules {
  planted?: PlantedRule | undefined;
  sabotage?: ((state: PoolState, command: Command) => void) | undefined;
  /** Extra changes of the machine, in addition to the changes of a step. */
  besides?: ((state: PoolState, changes: readonly Change[], input: unknown) => Change[]) | undefined;
}

/** The AgentPool object around the real state machine, with simulated storage and alarm. Checks every step. */
export class SimPool {
  readonly storage = new SimStorage();
  readonly checker: Checker;
  readonly context: DecisionContext;
  state: PoolState;
  alarmAt: number | null = null;
  commands = 0;
  /** Whether an eviction loses a lease that was granted last, as that of the object does. */
  losesClaims = true;
  /** Everything as it was before the last call, where that granted a lease: the object writes it with the next step. */
  #unwritten: {
    rows: SimStorage["rows"];
    current: SimStorage["rows"];
    observed: Observations;
    maxFence: number;
  } | null = null;
  readonly #observer: Observer | undefined;
  readonly #sabotage: WrongRules["sabotage"];
  readonly #besides: WrongRules["besides"];
  readonly #push: (push: Push) => void;

  constructor(orgId: string, rules: WrongRules, push: (push: Push) => void, observer?: Observer) {
    this.checker = new Checker(orgId, this.storage, rules);
    this.context = {
      now: 0,
      startMs: START_MS,
      leaseMs: LEASE_MS,
      agentMs: AGENT_MS,
      storedForMs: STORED_FOR_MS,
      maxQueued: LIMITS.waitingJobs,
      buildsPerDay: ORGANIZATION_LIMITS.buildsPerDay,
      rules,
    };
    this.#sabotage = rules.sabotage;
    this.#besides = rules.besides;
    this.state = this.storage.load(true);
    this.#push = push;
    this.#observer = observer;
  }

  /** @throws Violation if the step breaks an invariant */
  call<C extends Command>(now: number, command: C, input: InputOf<C>): Result<OutputOf<C>> {
    const { state, storage, checker, context } = this;
    this.commands++;
    context.now = now;
    this.#sabotage?.(state, command);
    this.#observer?.onCall?.(now, command, input);
    const before = command === "claim" && this.losesClaims ? this.#snapshot() : null;
    checker.beforeCall(state, command, input, now);
    const { answer, pushes } = step(state, command, input, context, (changes) => {
      if (this.#besides) (changes as Change[]).push(...this.#besides(state, changes, input));
      this.#observer?.onCommit?.(changes, storage);
      checker.onCommit(state, changes);
      storage.store(changes);
    });
    this.#scheduleAlarm();
    checker.afterCall(state, answer, pushes);
    this.#unwritten = answer.ok && answer.value !== null ? before : null;
    this.#observer?.onAnswer?.({ now, command, input, answer, pushes }, storage);
    for (const push of pushes) this.#push(push);
    return answer;
  }

  #snapshot() {
    const { storage, checker } = this;
    const { maxFence } = checker;
    return { rows: storage.snapshot(), current: storage.rows, observed: checker.snapshot(), maxFence };
  }

  /** Forgets a lease that nobody knows. A restore has other rows. */
  #loseUnwritten(): void {
    const { storage, checker } = this;
    if (this.#unwritten?.current === storage.rows) {
      storage.rows = this.#unwritten.rows;
      checker.observed = this.#unwritten.observed;
      checker.maxFence = this.#unwritten.maxFence;
    }
    this.#unwritten = null;
  }

  /** Starts a new object from storage. `found` are the sockets that survived the eviction. */
  reload(now: number, found: ReadonlyMap<string, AgentSockets> = new Map()): void {
    const { storage, checker, context } = this;
    this.#loseUnwritten();
    context.now = now;
    this.state = storage.load();
    const changes = wake(this.state, found, context);
    checker.beforeWake(this.state, found, now);
    checker.onCommit(this.state, changes);
    storage.store(changes);
    apply(this.state, changes);
    checker.afterWake(this.state);
    this.#scheduleAlarm();
  }

  #scheduleAlarm(): void {
    const due = nextDue(this.state, this.context);
    if (due !== null && (this.alarmAt === null || due < this.alarmAt)) this.alarmAt = due;
  }
}
