import { poolTimes } from "../config.ts";
import { buildLogName } from "../domain/object-names.ts";
import { apply } from "../domain/pool/apply.ts";
import type { Result } from "../domain/pool/commands.ts";
import type { DecisionContext } from "../domain/pool/decision.ts";
import { RULES } from "../domain/pool/rules.ts";
import type { PoolState } from "../domain/pool/state.ts";
import { type Command, decide, type Input, nextDue, nextOfferDue, type Output, step } from "../domain/pool/step.ts";
import { Outbox } from "./agent-pool-outbox.ts";
import { HintSockets } from "./agent-pool-sockets.ts";
import { PoolStorage } from "./agent-pool-storage.ts";
import type { BuildLog } from "./build-log.ts";
import { uuidsInOrder } from "./uuid.ts";

/** Milliseconds a trigger waits for D1 to know its build; after that the alarm carries it there. */
const FLUSH_PATIENCE_MS = 1_000;
/** Milliseconds after which an alarm rings again, should the one that rings now come to nothing. */
const SAFETY_MS = 60_000;
const TIDY_MS = 60 * 60 * 1000;

/**
 * What turns the machine of `domain/pool` in an object: the state in memory while it is awake, each decision stored in
 * one transaction before its hints go out, and the alarm set for what is due next.
 */
export class PoolEngine {
  readonly storage: PoolStorage;
  readonly sockets: HintSockets;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #outbox: Outbox;
  #state!: PoolState;
  #alarmAt: number | null = null;
  #timer: { at: number; handle: ReturnType<typeof setTimeout> } | null = null;
  #flushing: Promise<void> | null = null;
  #tidiedAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.storage = new PoolStorage(ctx.storage.sql, uuidsInOrder(), () => poolTimes(env).inputsMs);
    this.sockets = new HintSockets(ctx);
    this.#outbox = new Outbox(env.DB, this.storage, (buildId, fence) => this.#closeLog(buildId, fence));
  }

  /** Brings back what was stored, and who still waits. Comes before anything else. */
  async load(): Promise<void> {
    const now = Date.now();
    this.#alarmAt = await this.#ctx.storage.getAlarm();
    this.#state = this.storage.load(now);
    for (const [agentId, until] of this.sockets.waiting(now)) {
      apply(this.#state, [{ kind: "waiter", agentId, waiter: { until, ignored: 0, ignoredAt: 0 } }]);
    }
    this.#arm();
  }

  /** The state, to be read only. */
  get state(): Readonly<PoolState> {
    return this.#state;
  }

  get context(): DecisionContext {
    const { startMs, leaseMs, agentMs } = poolTimes(this.#env);
    return { now: Date.now(), startMs, leaseMs, agentMs, rules: RULES };
  }

  get orgId(): string {
    return this.#state.orgId ?? this.#ctx.id.name ?? "";
  }

  /** One step of the machine, stored whole before anyone hears of it, or the object is no more. */
  step<V extends Command>(verb: V, input: Input<V>): Result<Output<V>> {
    const { context } = this;
    const { answer, pushes } = this.#stored(verb, () =>
      step(this.#state, verb, input, context, (changes) => this.storage.store(changes)),
    );
    this.sockets.push(pushes, context.now);
    this.#arm();
    return answer;
  }

  #stored<T>(verb: Command, step: () => T): T {
    try {
      return this.#ctx.storage.transactionSync(step);
    } catch (error) {
      this.#ctx.abort(`The pool could not store a decision: ${verb}`);
      throw error;
    }
  }

  /** What the answer would be; nothing is changed. */
  foresee<V extends Command>(verb: V, input: Input<V>): Result<Output<V>> {
    return decide(this.#state, verb, input, this.context).answer;
  }

  /** Ends what is overdue, and forgets what is old. */
  sweep(): void {
    const now = Date.now();
    const isOld = now - this.#tidiedAt >= TIDY_MS;
    this.step(isOld ? "tidy" : "sweep", null);
    if (isOld) this.#tidiedAt = now;
  }

  /** Writes what D1 and the logs do not know yet. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#state.flush.at !== null) await this.#attempt();
  }

  /** Waits, not for long, until D1 knows of a build. */
  async waitForFlush(buildId: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_PATIENCE_MS);
    });
    const known = async () => {
      await this.#flushing;
      if (this.#state.dirty.has(buildId)) await this.#attempt();
    };
    await Promise.race([known(), patience]);
    clearTimeout(timer);
  }

  /** Rings for everything that is due. Rearmed first: an alarm that fails six times is never rung again. */
  async onAlarm(): Promise<void> {
    this.#setAlarm(Date.now() + SAFETY_MS);
    try {
      this.sweep();
      const { at } = this.#state.flush;
      if (at !== null && at <= Date.now()) await this.flush();
      this.#setAlarm(nextDue(this.#state, this.context));
    } catch (error) {
      console.error("pool: the alarm's work failed and will be tried again", error);
    }
  }

  /** Sets the alarm for what is due next, unless it rings early enough; and the timer for hints nobody follows. */
  #arm(): void {
    this.#armTimer();
    const due = nextDue(this.#state, this.context);
    if (due !== null && (this.#alarmAt === null || due < this.#alarmAt)) this.#setAlarm(due);
  }

  #setAlarm(at: number | null): void {
    this.#alarmAt = at;
    if (at === null) this.#ctx.storage.deleteAlarm();
    else this.#ctx.storage.setAlarm(at);
  }

  #armTimer(): void {
    const at = nextOfferDue(this.#state);
    if (at === (this.#timer?.at ?? null)) return;
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = null;
    if (at === null) return;
    const ring = () => {
      this.#timer = null;
      this.step("sweep", null);
    };
    this.#timer = { at, handle: setTimeout(ring, Math.max(0, at - Date.now())) };
  }

  /** One attempt at a time: who comes meanwhile waits for the same one. */
  #attempt(): Promise<void> {
    this.#flushing ??= this.#carry().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #carry(): Promise<void> {
    this.step("flushed", await this.#outbox.attempt(this.orgId, this.#state.dirty));
  }

  async #closeLog(buildId: string, fence: number): Promise<void> {
    const logs = this.#env.BUILD_LOG as DurableObjectNamespace<BuildLog>;
    await logs.getByName(buildLogName(this.orgId, buildId)).close({ fence });
  }
}
