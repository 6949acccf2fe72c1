import { dayOf } from "../archive/keys.ts";
import { poolTimes } from "../config.ts";
import { databaseOf } from "../db/database-of.ts";
import { buildLogName } from "../domain/object-names.ts";
import { apply } from "../domain/pool/apply.ts";
import type { Result } from "../domain/pool/commands.ts";
import type { DecisionContext } from "../domain/pool/decision.ts";
import type { Change } from "../domain/pool/facts.ts";
import { numbersOf, type PoolNumbers } from "../domain/pool/numbers.ts";
import type { Reconciled } from "../domain/pool/reconcile.ts";
import { RULES, STORED_FOR_MS } from "../domain/pool/rules.ts";
import type { PoolState } from "../domain/pool/state.ts";
import { type Command, decide, type Input, nextDue, nextOfferDue, type Output, step } from "../domain/pool/step.ts";
import { wake } from "../domain/pool/wake.ts";
import { Closes } from "./agent-pool-closes.ts";
import { PoolClosing } from "./agent-pool-closing.ts";
import type { DeadLetterBody } from "./agent-pool-dead-letters.ts";
import { Deletions } from "./agent-pool-deletions.ts";
import { Outbox } from "./agent-pool-outbox.ts";
import { Reconciler } from "./agent-pool-reconciler.ts";
import { HintSockets } from "./agent-pool-sockets.ts";
import { PoolStorage } from "./agent-pool-storage.ts";
import type { LogOutboxEntry } from "./agent-pool-tables.ts";
import type { BuildLog } from "./build-log.ts";
import { monotonicUuids } from "./uuid.ts";

/** Milliseconds that a trigger waits until its build is in D1; after that the alarm delivers it. */
const FLUSH_WAIT_MS = 1_000;
/** Milliseconds after which the alarm runs again, should the present run fail. */
const ALARM_RETRY_MS = 60_000;
/** Milliseconds that the alarm waits for D1 and the logs: deadlines that pass meanwhile need it again. */
const ALARM_WAIT_MS = 10_000;
/** Milliseconds by which an alarm does what is due later, so that it needs no alarm of its own. */
const ALARM_AHEAD_MS = 5_000;
/** Milliseconds between two cleanups of old rows, and until the next slices while some are left. */
const TIDY_MS = 60 * 60 * 1000;
const TIDY_ON_MS = 1_000;
/** Slices of old rows that one cleanup deletes at most. */
const TIDY_SLICES = 12;

/**
 * Runs the state machine of `domain/pool` inside a Durable Object: keeps the state in memory, stores each step in one
 * transaction before it sends hints, and sets the alarm for the next deadline.
 */
export class PoolEngine {
  readonly storage: PoolStorage;
  readonly sockets: HintSockets;
  readonly closing: PoolClosing;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #outbox: Outbox;
  readonly #closes: Closes;
  readonly #deletions: Deletions;
  readonly #reconciler: Reconciler;
  #state!: PoolState;
  #alarmAt: number | null = null;
  #timer: { at: number; handle: ReturnType<typeof setTimeout> } | null = null;
  #flushing: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #deleting: Promise<void> | null = null;
  #comparing: Promise<void> | null = null;
  #tidyAt = 0;
  /** The alarm is firing: it is set once, when everything that was due has been done. */
  #isFiring = false;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.storage = new PoolStorage(ctx.storage.sql, monotonicUuids(), () => poolTimes(env).runValuesMs);
    this.sockets = new HintSockets(ctx);
    const db = databaseOf(env, ctx.id.name ?? "");
    this.#outbox = new Outbox(db, env.ARCHIVE, this.storage);
    this.#deletions = new Deletions(db, env.ARCHIVE, this.storage.deletions, (jobId) => this.#logOf(jobId).remove());
    this.#reconciler = new Reconciler(db, this);
    this.#closes = new Closes(this.storage, (entry) => this.#closeLog(entry));
    this.closing = new PoolClosing(ctx.storage);
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
    return { now: Date.now(), startMs, leaseMs, agentMs, storedForMs: STORED_FOR_MS, rules: RULES };
  }

  get orgId(): string {
    return this.#state.orgId ?? this.#ctx.id.name ?? "";
  }

  /** Runs one step and stores it in one transaction. When that fails, aborts the object: memory and disk may differ. */
  step<C extends Command>(command: C, input: Input<C>): Result<Output<C>> {
    const refusal = this.closing.refusalOf(command);
    if (refusal) return refusal;
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
    return this.closing.refusalOf(command) ?? decide(this.#state, command, input, this.context).answer;
  }

  /** Ends what is overdue, and deletes what is old: in slices, and soon again while old rows are left. */
  sweep(): void {
    const now = Date.now();
    this.step("sweep", null);
    if (now < this.#tidyAt) return;
    this.#tidyAt = now + TIDY_MS;
    for (let slices = 0; slices < TIDY_SLICES; slices++) {
      this.step("tidy", null);
      if (!this.storage.hasOldRows) return;
    }
    this.#tidyAt = now + TIDY_ON_MS;
    this.#scheduleNext();
  }

  /** What a sweep answers. The events are counted anew from here. */
  numbers(): PoolNumbers {
    const numbers = numbersOf(this.#state, Date.now(), this.storage.numbers());
    apply(this.#state, [{ kind: "events-told" }]);
    return numbers;
  }

  /** Tells the archive and D1 what they have to hear, and closes logs. */
  async flush(): Promise<void> {
    await Promise.all([this.#flushing, this.#closing]);
    await Promise.all([
      this.#state.flush.at === null ? null : this.#deliverOutbox(),
      this.#state.closing.at === null ? null : this.#closeLogs(),
      this.#state.deleting.at === null ? null : this.#deliverDeletions(),
    ]);
  }

  /** Puts dead letters back to where they came from. @returns how many */
  retryDeadLetters(seqs: number[]): number {
    return this.#ctx.storage.transactionSync(() => {
      const taken = this.storage.deadLetters.take(seqs);
      const changes = taken.map((body) => retried(body, Date.now()));
      this.storage.store(changes);
      apply(this.#state, changes);
      this.#scheduleNext();
      return taken.length;
    });
  }

  /** Refuses agents and builds from now on: their organization is being deleted. */
  close(): void {
    this.closing.close();
    this.sockets.closeAll();
  }

  /** Takes over what D1 knows of these builds, which it has under way. */
  async reconcile(ids: string[]): Promise<Result<Reconciled>> {
    await this.compared();
    return this.#reconciler.reconcile(ids);
  }

  /** An operator says what was restored. */
  async restored(what: "database" | "pools"): Promise<Result<Reconciled>> {
    const done = await this.#reconciler.restored(what);
    await this.#deliverOutbox();
    return done;
  }

  /** Waits for what is being told elsewhere. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#flushing, this.#closing, this.#deleting]);
  }

  /** Deletes everything. @throws Error where the pool was not closed */
  async destroy(): Promise<void> {
    if (!this.closing.isClosed) throw new Error("This pool is in use: close it first");
    await this.settled();
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#alarmAt = null;
    await this.closing.destroy();
  }

  /** Waits until the build is in D1, but not longer than FLUSH_WAIT_MS. */
  async waitUntilWritten(buildId: string): Promise<void> {
    const written = async () => {
      await this.#flushing;
      if (this.#state.dirty.has(buildId)) await this.#deliverOutbox();
    };
    await within(FLUSH_WAIT_MS, written());
  }

  /**
   * Does everything that is due, and sets the next alarm at the end, which costs one row. The platform fires a failed
   * one again, six times at most: so a repeated one is set anew first.
   */
  async onAlarm(isRetry: boolean): Promise<void> {
    this.#alarmAt = await this.#ctx.storage.getAlarm();
    if (isRetry) this.#setAlarm(Date.now() + ALARM_RETRY_MS);
    this.#isFiring = true;
    try {
      if (this.#state.builds.size > 0) await this.comparedSoon();
      this.sweep();
      const { flush, closing, deleting } = this.#state;
      const until = Date.now() + ALARM_AHEAD_MS;
      const delivered = Promise.all([
        flush.at !== null && flush.at <= until ? this.#deliverOutbox() : null,
        closing.at !== null && closing.at <= until ? this.#closeLogs() : null,
        deleting.at !== null && deleting.at <= until ? this.#deliverDeletions() : null,
      ]);
      await within(ALARM_WAIT_MS, delivered);
    } catch (error) {
      console.error("pool: the alarm failed and will be tried again", error);
      this.#setAlarm(Date.now() + ALARM_RETRY_MS);
    } finally {
      this.#isFiring = false;
    }
    this.#scheduleNext();
  }

  /** Sets the alarm for the next deadline, unless it is early enough already, and the timer for the next offer. */
  #scheduleNext(): void {
    this.#setOfferTimer();
    const due = this.#due();
    if (this.#isFiring || due === null) return;
    if (this.#alarmAt === null || due < this.#alarmAt) this.#setAlarm(due);
  }

  #due(): number | null {
    const due = nextDue(this.#state, this.context);
    if (!this.storage.hasOldRows) return due;
    return due === null ? this.#tidyAt : Math.min(due, this.#tidyAt);
  }

  #setAlarm(at: number): void {
    if (this.closing.isDestroyed) return;
    this.#alarmAt = at;
    this.#ctx.storage.setAlarm(at);
  }

  #setOfferTimer(): void {
    if (this.closing.isClosed) return;
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

  /** D1 is compared with the pool since this object was loaded. @throws where D1 does not answer */
  async compared(): Promise<void> {
    if (this.#state.unchecked === null) return;
    this.#comparing ??= this.#reconciler.compare().finally(() => {
      this.#comparing = null;
    });
    await this.#comparing;
  }

  /** The same, but not for longer than FLUSH_WAIT_MS, and without a comparison where D1 is away. */
  async comparedSoon(): Promise<void> {
    if (this.#state.unchecked === null) return;
    const tried = this.compared().catch((error) => console.error("pool: D1 could not be compared", error));
    await within(FLUSH_WAIT_MS, tried);
  }

  async #deliverOnce(): Promise<void> {
    await this.compared();
    this.step("recordFlush", await this.#outbox.deliver(this.orgId, this.#state, this.context));
  }

  #closeLogs(): Promise<void> {
    this.#closing ??= this.#closes
      .deliver()
      .then((result) => {
        this.step("recordCloses", result);
      })
      .finally(() => {
        this.#closing = null;
      });
    return this.#closing;
  }

  /** Closes the logs of builds that have just ended at once, so that those who follow them hear of it. */
  closeEnded(): void {
    if (this.#state.closing.at !== null) this.#ctx.waitUntil(this.#closeLogs());
  }

  /** Waits until the pending deletions are carried out, but not longer than FLUSH_WAIT_MS. */
  async waitUntilDeleted(): Promise<void> {
    const delivered = async () => {
      await this.#deleting;
      if (this.#state.pendingDeletions.size > 0) await this.#deliverDeletions();
    };
    await within(FLUSH_WAIT_MS, delivered());
  }

  #deliverDeletions(): Promise<void> {
    this.#deleting ??= this.#deleteOnce().finally(() => {
      this.#deleting = null;
    });
    return this.#deleting;
  }

  /** After D1 was told: an attempt that is under way may have read a build before it was deleted. */
  async #deleteOnce(): Promise<void> {
    await Promise.allSettled([this.#flushing]);
    if (this.#state.flush.at !== null) await Promise.allSettled([this.#deliverOutbox()]);
    this.step("recordDeletions", await this.#deletions.deliver(this.orgId, this.#state));
  }

  async #closeLog({ jobId, fence, endedAt }: LogOutboxEntry): Promise<void> {
    const ended = endedAt === undefined ? null : { day: dayOf(endedAt), orgId: this.orgId, jobId };
    await this.#logOf(jobId).close({ fence, ended });
  }

  #logOf(jobId: string): DurableObjectStub<BuildLog> {
    const logs = this.#env.BUILD_LOG as DurableObjectNamespace<BuildLog>;
    return logs.getByName(buildLogName(this.orgId, jobId));
  }
}

/** Waits for the promise, but not longer than this. */
const within = async (milliseconds: number, promise: Promise<unknown>): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
};

/** The change with which a dead letter is on its way again. */
const retried = (body: Exclude<DeadLetterBody, { kind: "row" }>, at: number): Change => {
  switch (body.kind) {
    case "build":
      return { kind: "dirty", buildId: body.buildId, at };
    case "audit":
      return { kind: "audit", entry: body.entry, variableIds: body.variableIds };
    case "close":
      return { ...body, at };
  }
};
