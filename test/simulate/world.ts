import type { Result } from "../../src/domain/pool/commands.ts";
import type { Push } from "../../src/domain/pool/decision.ts";
import type { Rules } from "../../src/domain/pool/rules.ts";
import type { Command, Input, Output } from "../../src/domain/pool/step.ts";
import { Chance } from "./chance.ts";
import { type Batch, Database } from "./database.ts";
import { type Onlooker, PoolModel } from "./pool.ts";

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
export class World {
  readonly chance: Chance;
  readonly pool: PoolModel;
  readonly database = new Database();
  readonly faults = new Map<Fault, number>();
  readonly pipelines: Pipeline[];
  readonly builds: string[] = [];
  /** Messages that are still under way, to arrive in any order. */
  readonly late: (() => void)[] = [];
  /** Agents by id that were told to look since they last did. */
  readonly hinted = new Set<string>();
  /** Open sockets, and until when. */
  readonly sockets = new Map<string, number | null>();
  /** The token by which agents register, until it is revoked with all of them. */
  registrationToken = "t0";
  now = EPOCH;
  isCalm = false;
  /** The git host can be reached from few machines. */
  readonly isRemote: boolean;
  #flushing: Batch | null = null;
  #ids = 0;

  constructor(seed: number, history: number, rules: Rules, onlooker?: Onlooker) {
    this.chance = new Chance(seed, history);
    this.pool = new PoolModel(ORG, rules, (push) => this.#pushed(push), onlooker);
    this.isRemote = this.chance.odds(0.15);
    this.pipelines = ["p1", "p2"].map((id) => this.#newPipeline(id));
  }

  id(kind: string): string {
    return `${kind}${++this.#ids}`;
  }

  /** Whether this fault happens now. In calm times none does. */
  strikes(fault: Fault, share: number): boolean {
    if (this.isCalm || !this.chance.odds(share)) return false;
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    return true;
  }

  /** A call as it arrives: no network between. */
  tell<V extends Command>(verb: V, input: Input<V>): Result<Output<V>> {
    return this.pool.call(this.now, verb, input);
  }

  /** A call over the network: undefined where no answer comes back. */
  send<V extends Command>(verb: V, input: Input<V>): Result<Output<V>> | undefined {
    if (this.strikes("request lost", 0.03)) return undefined;
    if (this.strikes("message late", 0.03)) this.late.push(() => this.tell(verb, input));
    const answer = this.tell(verb, input);
    if (this.strikes("call doubled", 0.03)) return this.tell(verb, input);
    return this.strikes("answer lost", 0.04) ? undefined : answer;
  }

  #pushed({ agentId, hint }: Push): void {
    if (hint.type !== "look" || this.strikes("hint lost", 0.15)) return;
    if (this.sockets.has(agentId)) this.hinted.add(agentId);
  }

  #newPipeline(id: string): Pipeline {
    const { chance } = this;
    return {
      id,
      repoId: chance.odds(0.5) ? "r1" : "r2",
      maxParallel: chance.pick([null, null, 1, 2]),
      maxAttempts: 1 + chance.below(3),
      timeoutSeconds: chance.pick([20, 90, 3600]),
      platform: chance.pick([null, "linux", "macos"]),
    };
  }

  /** Lets time pass; the alarm rings on its way unless something goes wrong with it. */
  pass(milliseconds: number): void {
    const until = this.now + milliseconds;
    const { pool } = this;
    const isLate = this.strikes("alarm late", 0.06);
    if (this.strikes("alarm dropped", 0.02)) pool.alarmAt = null;
    while (!isLate && pool.alarmAt !== null && pool.alarmAt <= until) {
      this.now = Math.max(this.now, pool.alarmAt);
      this.ring();
    }
    this.now = until;
    this.#giveUpHints();
    for (const [agentId, end] of this.sockets) if (end !== null && end <= this.now) this.hangUp(agentId);
    if (pool.alarmAt === null || isLate) this.ring();
  }

  /** The alarm, or cron where there is none. */
  ring(): void {
    this.pool.alarmAt = null;
    this.tell("sweep", null);
    if (this.strikes("alarm doubled", 0.05)) this.tell("sweep", null);
    const { at } = this.pool.state.flush;
    if (at !== null && at <= this.now) this.flush();
  }

  /** The object's own timer for hints that nobody followed. */
  #giveUpHints(): void {
    const stands = [...this.pool.state.offers.values()].some(({ at }) => this.now >= at + 2_000);
    if (stands) this.tell("sweep", null);
  }

  hangUp(agentId: string): void {
    this.sockets.delete(agentId);
    this.hinted.delete(agentId);
    this.tell("leave", { agentId });
  }

  /** The object is torn down and comes again; sleeping sockets stay, unless a crash took them too. */
  evict(isCrash = this.chance.odds(0.5)): void {
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
    const batch = database.read(pool.disk, pool.state.dirty);
    this.#flushing = batch;
    if (this.strikes("D1 write late", 0.05)) this.late.push(() => database.write(batch, pool.disk));
    if (this.isCalm || this.chance.odds(0.5)) this.#flushed(batch);
  }

  #flushed(batch: Batch): void {
    const { database, pool } = this;
    this.#flushing = null;
    const isAway = this.strikes("D1 away", 0.1);
    if (!isAway) database.write(batch, pool.disk);
    if (this.strikes("object evicted", 0.02)) {
      this.evict();
      return;
    }
    const failed = isAway || this.strikes("D1 outcome unknown", 0.05);
    const builds = failed ? [] : batch.builds;
    const entries = failed ? [] : batch.entries.map(({ seq }) => seq);
    this.tell("recordFlush", { builds, entries, failed });
  }
}
