import { apply } from "../../src/domain/pool/apply.ts";
import type { Result } from "../../src/domain/pool/commands.ts";
import type { DecisionContext, Push } from "../../src/domain/pool/decision.ts";
import type { Rules } from "../../src/domain/pool/rules.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { type Command, type Input, nextDue, type Output, step } from "../../src/domain/pool/step.ts";
import { Checker } from "./checker.ts";
import { AGENT_MS, LEASE_MS, START_MS } from "./specification.ts";
import { SimStorage } from "./storage.ts";

/** Sees every call with its answer: for the trace of a replay, and to play the same calls to the real object. */
export type Observer = (now: number, verb: Command, input: unknown, answer: Result<unknown>, pool: SimPool) => void;

/** The object around the machine, with a model of its disk, its sockets and its alarm. */
export class SimPool {
  readonly storage = new SimStorage();
  readonly checker: Checker;
  readonly context: DecisionContext;
  state: PoolState;
  alarmAt: number | null = null;
  commands = 0;
  readonly #onlooker: Observer | undefined;
  readonly #push: (push: Push) => void;

  constructor(orgId: string, rules: Rules, push: (push: Push) => void, onlooker?: Observer) {
    this.checker = new Checker(orgId, this.storage);
    this.context = { now: 0, startMs: START_MS, leaseMs: LEASE_MS, agentMs: AGENT_MS, rules };
    this.state = this.storage.load();
    this.#push = push;
    this.#onlooker = onlooker;
  }

  call<V extends Command>(now: number, verb: V, input: Input<V>): Result<Output<V>> {
    const { state, storage, checker, context } = this;
    this.commands++;
    context.now = now;
    checker.beforeCall(state, verb, input, now);
    const { answer, pushes } = step(state, verb, input, context, (changes) => {
      checker.onCommit(state, changes);
      storage.store(changes);
    });
    const due = nextDue(state, context);
    if (due !== null && (this.alarmAt === null || due < this.alarmAt)) this.alarmAt = due;
    checker.afterCall(state, answer, pushes);
    for (const push of pushes) this.#push(push);
    this.#onlooker?.(now, verb, input, answer, this);
    return answer;
  }

  /** The object is gone and comes again with what is on disk; `waiting` are the sockets that outlived it. */
  reload(waiting: Iterable<[agentId: string, until: number | null]>): void {
    this.state = this.storage.load();
    for (const [agentId, until] of waiting) {
      const waiter = { until, ignored: 0, ignoredAt: 0 };
      if (this.state.agents.has(agentId)) apply(this.state, [{ kind: "waiter", agentId, waiter }]);
    }
    const due = nextDue(this.state, this.context);
    if (due !== null && (this.alarmAt === null || due < this.alarmAt)) this.alarmAt = due;
  }
}
