import type { Result } from "../../src/domain/pool/commands.ts";
import type { Push } from "../../src/domain/pool/decision.ts";
import type { Rules } from "../../src/domain/pool/rules.ts";
import type { Command, Input, Output } from "../../src/domain/pool/step.ts";
import { type Batch, SimDatabase } from "./database.ts";
import { type Observer, SimPool } from "./pool.ts";
import { Random } from "./random.ts";

export const ORG = "acme";
export const ACTOR = { actor: "token:t", requestId: null };
/** Far ahead, so that no real alarm rings while a history is played to the real object. */
const EPOCH = Date.UTC(2100, 0);

/** Two pipelines, so that one can be full while the other is not. */
export interface Pipeline {
  id: string;
  repoId: string;
  maxParallel: number | null;
  maxAttempts: number;
  timeoutSeconds: number;
  platform: "macos" | "linux" | null;
}

export type Fault =
  | "request lost"
  | "answer lost"
  | "call doubled"
  | "message late"
  | "hint lost"
  | "agent crash"
  | "agent freeze"
  | "zombie"
  | "object evicted"
  | "restore"
  | "D1 away"
  | "D1 outcome unknown"
  | "D1 write late"
  | "Worker died"
  | "alarm late"
  | "alarm dropped"
  | "alarm doubled"
  | "clock jump"
  | "hostile call"
  | "cancel"
  | "removal"
  | "token revoked"
  | "months of silence"
  | "secret unreadable";

/** One organization's pool, and all that can happen to it. */
export class Simulator {
  readonly random: Random;
  readonly pool: SimPool;
  readonly database = new SimDatabase();
  readonly faults = new Map<Fault, number>();
  readonly pipelines: Pipeline[];
  readonly builds: string[] = [];
  /** Messages that are still under way, to arrive in any order. */
  readonly delayedMessages: (() => void)[] = [];
  /** Agents by id that were told to look since they last did. */
  readonly hinted = new Set<string>();
  /** Open sockets, and until when. */
  readonly sockets = new Map<string, number | null>();
  /** The token by which agents register, until it is revoked with all of them. */
  registrationToken = "t0";
  now = EPOCH;
  isHealing = false;
  /** The git host can be reached from few machines. */
  readonly isGitHostRestricted: boolean;
  #flushing: Batch | null = null;
  #ids = 0;

  constructor(seed: number, history: number, rules: Rules, onlooker?: Observer) {
    this.random = new Random(seed, history);
    this.pool = new SimPool(ORG, rules, (push) => this.#pushed(push), onlooker);
    this.isGitHostRestricted = this.random.chance(0.15);
    this.pipelines = ["p1", "p2"].map((id) => this.#newPipeline(id));
  }

  id(kind: string): string {
    return `${kind}${++this.#ids}`;
  }

  /** Whether this fault happens now. In calm times none does. */
  injectFault(fault: Fault, share: number): boolean {
    if (this.isHealing || !this.random.chance(share)) return false;
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    return true;
  }

  /** A call as it arrives: no network between. */
  call<V extends Command>(verb: V, input: Input<V>): Result<Output<V>> {
    return this.pool.call(this.now, verb, input);
  }

  /** A call over the network: undefined where no answer comes back. */
  request<V extends Command>(verb: V, input: Input<V>): Result<Output<V>> | undefined {
    if (this.injectFault("request lost", 0.03)) return undefined;
    if (this.injectFault("message late", 0.03)) this.delayedMessages.push(() => this.call(verb, input));
    const answer = this.call(verb, input);
    if (this.injectFault("call doubled", 0.03)) return this.call(verb, input);
    return this.injectFault("answer lost", 0.04) ? undefined : answer;
  }

  #pushed({ agentId, hint }: Push): void {
    if (hint.type !== "look" || this.injectFault("hint lost", 0.15)) return;
    if (this.sockets.has(agentId)) this.hinted.add(agentId);
  }

  #newPipeline(id: string): Pipeline {
    const { random } = this;
    return {
      id,
      repoId: random.chance(0.5) ? "r1" : "r2",
      maxParallel: random.pick([null, null, 1, 2]),
      maxAttempts: 1 + random.below(3),
      timeoutSeconds: random.pick([20, 90, 3600]),
      platform: random.pick([null, "linux", "macos"]),
    };
  }

  /** Lets time pass; the alarm rings on its way unless something goes wrong with it. */
  advanceTime(milliseconds: number): void {
    const until = this.now + milliseconds;
    const { pool } = this;
    const isLate = this.injectFault("alarm late", 0.06);
    if (this.injectFault("alarm dropped", 0.02)) pool.alarmAt = null;
    while (!isLate && pool.alarmAt !== null && pool.alarmAt <= until) {
      this.now = Math.max(this.now, pool.alarmAt);
      this.fireAlarm();
    }
    this.now = until;
    this.#giveUpHints();
    for (const [agentId, end] of this.sockets) if (end !== null && end <= this.now) this.closeSocket(agentId);
    if (pool.alarmAt === null || isLate) this.fireAlarm();
  }

  /** The alarm, or cron where there is none. */
  fireAlarm(): void {
    this.pool.alarmAt = null;
    this.call("sweep", null);
    if (this.injectFault("alarm doubled", 0.05)) this.call("sweep", null);
    const { at } = this.pool.state.flush;
    if (at !== null && at <= this.now) this.flush();
  }

  /** The object's own timer for hints that nobody followed. */
  #giveUpHints(): void {
    const stands = [...this.pool.state.offers.values()].some(({ at }) => this.now >= at + 2_000);
    if (stands) this.call("sweep", null);
  }

  closeSocket(agentId: string): void {
    this.sockets.delete(agentId);
    this.hinted.delete(agentId);
    this.call("leave", { agentId });
  }

  /** The object is torn down and comes again; sleeping sockets stay, unless a crash took them too. */
  evict(isCrash = this.random.chance(0.5)): void {
    if (isCrash) {
      this.sockets.clear();
      this.hinted.clear();
    }
    this.#flushing = null;
    this.pool.reload(this.sockets);
  }

  /** The pool writes to D1; other calls may come between what it reads and what it learns. */
  flush(): void {
    const { database, pool } = this;
    if (this.#flushing) {
      this.#flushed(this.#flushing);
      return;
    }
    const batch = database.read(pool.storage, pool.state.dirty);
    this.#flushing = batch;
    if (this.injectFault("D1 write late", 0.05)) this.delayedMessages.push(() => database.write(batch, pool.storage));
    if (this.isHealing || this.random.chance(0.5)) this.#flushed(batch);
  }

  #flushed(batch: Batch): void {
    const { database, pool } = this;
    this.#flushing = null;
    const isAway = this.injectFault("D1 away", 0.1);
    if (!isAway) database.write(batch, pool.storage);
    if (this.injectFault("object evicted", 0.02)) {
      this.evict();
      return;
    }
    const failed = isAway || this.injectFault("D1 outcome unknown", 0.05);
    const builds = failed ? [] : batch.builds;
    const entries = failed ? [] : batch.entries.map(({ seq }) => seq);
    this.call("flushed", { builds, entries, failed });
  }
}
