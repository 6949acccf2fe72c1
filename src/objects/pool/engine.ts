import { poolTimes } from "../../config.ts";
import { databaseOf } from "../../db/database-of.ts";
import { log } from "../../log.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { effectiveLimits } from "../../protocol/organization.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import type { Result } from "../../queue/commands/commands.ts";
import {
  type Command,
  decide,
  type InputOf,
  nextDue,
  nextOfferDue,
  type OutputOf,
  step,
} from "../../queue/commands/step.ts";
import { wake } from "../../queue/commands/wake.ts";
import { apply } from "../../queue/state/apply.ts";
import type { DecisionContext } from "../../queue/state/decision.ts";
import type { Change } from "../../queue/state/facts.ts";
import { type PoolNumbers, toPoolNumbers } from "../../queue/state/numbers.ts";
import { RULES, STORED_FOR_MS } from "../../queue/state/rules.ts";
import type { PoolState } from "../../queue/state/state.ts";
import { within } from "../attempt.ts";
import { monotonicUuids } from "../uuid.ts";
import { Courier } from "./courier.ts";
import type { DeadLetterBody } from "./dead-letters.ts";
import { PromptDeliveries } from "./prompt-deliveries.ts";
import { Reconciler } from "./reconciler.ts";
import { PoolRemoval } from "./removal.ts";
import type { KeepSteps } from "./reports.ts";
import { HintSockets } from "./sockets.ts";
import { PoolStorage } from "./storage.ts";

/** Milliseconds after which the alarm runs again if the present run fails. */
const ALARM_RETRY_MS = MINUTE_MS;
/**
 * Milliseconds for which the alarm waits for its attempts on the channels. Deadlines that pass meanwhile need the alarm
 * again.
 */
const ALARM_WAIT_MS = 10 * SECOND_MS;
/** Milliseconds by which an alarm works ahead. Anything that is due within them needs no alarm of its own. */
const ALARM_AHEAD_MS = 5 * SECOND_MS;
/** Milliseconds between two cleanups of old rows, and the shorter time while old rows are left. */
const TIDY_MS = HOUR_MS;
const TIDY_ON_MS = SECOND_MS;
/** Slices of old rows that one cleanup deletes at most. */
const TIDY_SLICES = 12;

/**
 * Runs the state machine of `queue` inside a Durable Object. Keeps the state in memory, and stores each step in one
 * transaction before it sends hints. Sets the alarm for the next deadline.
 */
export class PoolEngine {
  readonly storage: PoolStorage;
  readonly sockets: HintSockets;
  readonly removal: PoolRemoval;
  readonly reconciler: Reconciler;
  readonly courier: Courier;
  /** The organization's limits. D1's limits apply once the comparison is done; no build gets a number before that. */
  limits = effectiveLimits(null);
  readonly #deliveries: PromptDeliveries;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  #state!: PoolState;
  #alarmAt: number | null = null;
  #timer: { at: number; handle: ReturnType<typeof setTimeout> } | null = null;
  #tidyAt = 0;
  /** Whether the alarm is firing. A firing alarm sets the next one once, after it has done everything due. */
  #isFiring = false;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    const keepSteps: KeepSteps = (jobId, steps) => {
      const lease = this.#state.jobs.get(jobId)?.lease;
      return !!lease && this.sockets.keepSteps(lease.agentId, { jobId, fence: lease.fence, steps });
    };
    const { sql } = ctx.storage;
    this.storage = new PoolStorage(sql, monotonicUuids(), () => poolTimes(env).runValuesMs, keepSteps);
    this.sockets = new HintSockets(ctx);
    const db = databaseOf(env, ctx.id.name ?? "");
    this.reconciler = new Reconciler(db, this);
    this.courier = new Courier(env, db, this, this.reconciler);
    this.#deliveries = new PromptDeliveries(ctx, this, this.courier);
    this.removal = new PoolRemoval(ctx.storage);
  }

  /** Loads the stored state and the agents with open sockets. Callers must call it before any other method. */
  async load(): Promise<void> {
    const now = Date.now();
    this.#alarmAt = await this.#ctx.storage.getAlarm();
    this.#state = this.storage.load(now, this.#alarmAt);
    for (const { jobId, fence, steps } of this.sockets.keptSteps())
      if (this.#state.jobs.get(jobId)?.lease?.fence === fence) this.storage.reports.restore(jobId, steps);
    const changes = wake(this.#state, this.sockets.found(now), this.context);
    this.#ctx.storage.transactionSync(() => {
      this.storage.store(changes);
      this.storage.flush();
    });
    apply(this.#state, changes);
    // The object woke up for a step, perhaps because something is due now. That step sets the next alarm.
    if ((this.#due(Number.POSITIVE_INFINITY) ?? 0) > now) this.#scheduleNext();
  }

  /** The read-only state. */
  get state(): Readonly<PoolState> {
    return this.#state;
  }

  get context(): DecisionContext {
    const { startMs, leaseMs, agentMs } = poolTimes(this.#env);
    const times = { now: Date.now(), startMs, leaseMs, agentMs, storedForMs: STORED_FOR_MS };
    const { buildsPerDay } = this.limits;
    return { ...times, maxQueued: LIMITS.waitingJobs, buildsPerDay, rules: RULES };
  }

  get orgId(): string {
    return this.#state.orgId ?? this.#ctx.id.name ?? "";
  }

  /** Runs one step and stores it in one transaction. If that fails, aborts the object: memory and disk may differ. */
  step<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>> {
    const refusal = this.removal.refuse(command);
    if (refusal) return refusal;
    const { context } = this;
    const { due } = this.#state.outbox.lists;
    const before = due.size;
    const { answer, pushes } = this.#transaction(command, () => {
      const done = step(this.#state, command, input, context, (changes) => this.storage.store(changes));
      // See `claim`: the delivery, or whatever step comes first, writes this row.
      const isClaimed = command === "claim" && done.answer.ok && done.answer.value !== null;
      if (!isClaimed) this.storage.flush();
      return done;
    });
    this.sockets.push(pushes, context.now);
    this.#scheduleNext();
    this.#deliveries.after(command, due.size > before);
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

  /** Returns the answer that a command would get now. Changes nothing. */
  preview<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>> {
    return this.removal.refuse(command) ?? decide(this.#state, command, input, this.context).answer;
  }

  /** Ends what is overdue and deletes slices of old rows. Runs again soon while old rows are left. */
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

  /** Returns the numbers for a sweep's answer. Restarts the event counts. */
  numbers(): PoolNumbers {
    const limits = { ...this.context, mostStoredBytes: this.limits.storedBytes };
    const numbers = toPoolNumbers(this.#state, limits, this.storage.numbers());
    apply(this.#state, [{ kind: "events-told" }]);
    return numbers;
  }

  /** Puts dead letters back where they came from. @returns how many */
  retryDeadLetters(seqs: number[]): number {
    return this.#ctx.storage.transactionSync(() => {
      const letters = this.storage.deadLetters.take(seqs);
      const changes = letters.map((body) => retried(body, Date.now()));
      this.storage.store(changes);
      this.storage.flush();
      apply(this.#state, changes);
      this.#scheduleNext();
      return letters.length;
    });
  }

  /** Rejects agents and builds from now on, because the organization is being deleted. */
  close(): void {
    this.removal.close();
    this.sockets.closeAll();
  }

  /** Deletes everything. @throws Error if the pool is not closed */
  async destroy(): Promise<void> {
    this.removal.mustBeClosed();
    await this.courier.settled();
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#deliveries.stop();
    this.#alarmAt = null;
    await this.removal.destroy();
  }

  /**
   * Does everything that is due, then sets the next alarm, which costs one row. The platform repeats a failed alarm at
   * most six times. A repeated alarm therefore sets the next one first.
   */
  async onAlarm(isRetry: boolean): Promise<void> {
    this.#alarmAt = await this.#ctx.storage.getAlarm();
    if (isRetry) this.#setAlarm(Date.now() + ALARM_RETRY_MS);
    this.#isFiring = true;
    try {
      if (this.#state.builds.size > 0) await this.reconciler.comparedSoon();
      this.sweep();
      await within(ALARM_WAIT_MS, this.courier.deliverDue(Date.now() + ALARM_AHEAD_MS));
    } catch (error) {
      log.error("pool.alarm_failed", { orgId: this.orgId, error });
      this.#setAlarm(Date.now() + ALARM_RETRY_MS);
    } finally {
      this.#isFiring = false;
    }
    this.#scheduleNext();
  }

  /** Sets the alarm even if it only detects an agent that will have been silent for too long, months ahead. */
  scheduleAll(): void {
    this.#scheduleNext(this.context.agentMs);
  }

  /**
   * Sets the alarm for the next deadline, unless the alarm is early enough already, and sets the timer for the next
   * offer. The cron trigger's next sweep handles a silent agent. Otherwise, each build of a lone agent would set the
   * alarm again at its end, for a time that the agent's next build postpones.
   */
  #scheduleNext(agentMs = Number.POSITIVE_INFINITY): void {
    this.#setOfferTimer();
    const due = this.#due(agentMs);
    if (this.#isFiring || due === null) return;
    if (this.#alarmAt === null || due < this.#alarmAt) this.#setAlarm(due);
  }

  #due(agentMs: number): number | null {
    const next = nextDue(this.#state, { agentMs }) ?? Number.POSITIVE_INFINITY;
    const due = this.storage.hasOldRows ? Math.min(next, this.#tidyAt) : next;
    return Number.isFinite(due) ? due : null;
  }

  #setAlarm(at: number): void {
    if (this.removal.isDestroyed) return;
    this.#alarmAt = at;
    this.#ctx.storage.setAlarm(at);
  }

  #setOfferTimer(): void {
    if (this.removal.isClosed) return;
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
}

/** Returns the change that sends a dead letter again. */
const retried = (body: Exclude<DeadLetterBody, { kind: "row" }>, at: number): Change => {
  if (body.kind === "build") return { kind: "untold", buildId: body.buildId, at };
  return body.kind === "close" ? { ...body, at } : body;
};
