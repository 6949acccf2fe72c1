import { poolTimes } from "../config.ts";
import { buildLogName } from "../domain/object-names.ts";
import { apply } from "../domain/pool/apply.ts";
import type { Result } from "../domain/pool/commands.ts";
import type { DecisionContext } from "../domain/pool/decision.ts";
import { RULES } from "../domain/pool/rules.ts";
import type { PoolState } from "../domain/pool/state.ts";
import { type Command, decide, type Input, nextDue, nextOfferDue, type Output, step } from "../domain/pool/step.ts";
import { wake } from "../domain/pool/wake.ts";
import { Outbox } from "./agent-pool-outbox.ts";
import { HintSockets } from "./agent-pool-sockets.ts";
import { PoolStorage } from "./agent-pool-storage.ts";
import type { BuildLog } from "./build-log.ts";
import { monotonicUuids } from "./uuid.ts";

/** Milliseconds that a trigger waits until its build is in D1; after that the alarm delivers it. */
const FLUSH_WAIT_MS = 1_000;
/** Milliseconds after which the alarm runs again, should the present run fail. */
const ALARM_RETRY_MS = 60_000;
/** Milliseconds between two cleanups of old rows. */
const TIDY_MS = 60 * 60 * 1000;

/**
 * Runs the state machine of `domain/pool` inside a Durable Object: keeps the state in memory, stores each step in one
 * transaction before it sends hints, and sets the alarm for the next deadline.
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
    this.storage = new PoolStorage(ctx.storage.sql, monotonicUuids(), () => poolTimes(env).runValuesMs);
    this.sockets = new HintSockets(ctx);
    this.#outbox = new Outbox(env.DB, this.storage, (buildId, fence) => this.#closeLog(buildId, fence));
  }

  /** Loads the stored state and the agents with open sockets. Must run before any other method. */
  async load(): Promise<void> {
    const now = Date.now();
    this.#alarmAt = await this.#ctx.storage.getAlarm();
    this.#state = this.storage.load(now);
    const changes = wake(this.#state, this.sockets.found(now), this.context);
    this.#ctx.storage.transactionSync(() => this.storage.store(changes));
    apply(this.#state, changes);
    this.#scheduleNext();
  }

  /** The state, for reading only. */
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

  /** Runs one step and stores it in one transaction. When that fails, aborts the object: memory and disk may differ. */
  step<C extends Command>(command: C, input: Input<C>): Result<Output<C>> {
    const { context } = this;
    const { answer, pushes } = this.#transaction(command, () =>
      step(this.#state, command, input, context, (changes) => this.storage.store(changes)),
    );
    this.sockets.push(pushes, context.now);
    this.#scheduleNext();
    return answer;
  }

  #transaction<T>(command: Command, step: () => T): T {
    try {
      return this.#ctx.storage.transactionSync(step);
    } catch (error) {
      this.#ctx.abort(`The pool could not store a decision: ${command}`);
      throw error;
    }
  }

  /** The answer that a command would get now. Changes nothing. */
  preview<C extends Command>(command: C, input: Input<C>): Result<Output<C>> {
    return decide(this.#state, command, input, this.context).answer;
  }

  /** Ends what is overdue, and deletes what is old. */
  sweep(): void {
    const now = Date.now();
    const isTidyDue = now - this.#tidiedAt >= TIDY_MS;
    this.step(isTidyDue ? "tidy" : "sweep", null);
    if (isTidyDue) this.#tidiedAt = now;
  }

  /** Delivers the outbox to D1 and the logs. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#state.flush.at !== null) await this.#deliverOutbox();
  }

  /** Waits until the build is in D1, but not longer than FLUSH_WAIT_MS. */
  async waitUntilWritten(buildId: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_WAIT_MS);
    });
    const written = async () => {
      await this.#flushing;
      if (this.#state.dirty.has(buildId)) await this.#deliverOutbox();
    };
    await Promise.race([written(), timeout]);
    clearTimeout(timer);
  }

  /** Does everything that is due. Sets the next alarm first: the platform gives up on one that fails six times. */
  async onAlarm(): Promise<void> {
    this.#setAlarm(Date.now() + ALARM_RETRY_MS);
    try {
      this.sweep();
      const { at } = this.#state.flush;
      if (at !== null && at <= Date.now()) await this.flush();
      this.#setAlarm(nextDue(this.#state, this.context));
    } catch (error) {
      console.error("pool: the alarm failed and will be tried again", error);
    }
  }

  /** Sets the alarm for the next deadline, unless it is early enough already, and the timer for the next offer. */
  #scheduleNext(): void {
    this.#setOfferTimer();
    const due = nextDue(this.#state, this.context);
    if (due !== null && (this.#alarmAt === null || due < this.#alarmAt)) this.#setAlarm(due);
  }

  #setAlarm(at: number | null): void {
    this.#alarmAt = at;
    if (at === null) this.#ctx.storage.deleteAlarm();
    else this.#ctx.storage.setAlarm(at);
  }

  #setOfferTimer(): void {
    const at = nextOfferDue(this.#state);
    if (at === (this.#timer?.at ?? null)) return;
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = null;
    if (at === null) return;
    const onTimer = () => {
      this.#timer = null;
      this.step("sweep", null);
    };
    this.#timer = { at, handle: setTimeout(onTimer, Math.max(0, at - Date.now())) };
  }

  /** Runs one attempt at a time. A second caller waits for the same attempt. */
  #deliverOutbox(): Promise<void> {
    this.#flushing ??= this.#deliverOnce().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #deliverOnce(): Promise<void> {
    this.step("recordFlush", await this.#outbox.deliver(this.orgId, this.#state.dirty));
  }

  async #closeLog(buildId: string, fence: number): Promise<void> {
    const logs = this.#env.BUILD_LOG as DurableObjectNamespace<BuildLog>;
    await logs.getByName(buildLogName(this.orgId, buildId)).close({ fence });
  }
}
