import type { Result } from "../../src/queue/commands/commands.ts";
import type { Command, InputOf, OutputOf } from "../../src/queue/commands/step.ts";
import type { Push } from "../../src/queue/state/decision.ts";
import type { Rules } from "../../src/queue/state/rules.ts";
import { SimArtifacts } from "./artifacts.ts";
import { SimDatabase } from "./database.ts";
import { SimDeliveries } from "./deliveries.ts";
import type { Fault } from "./faults.ts";
import { SimFiles } from "./files.ts";
import { SimGitHosts } from "./git-hosts.ts";
import type { Observer } from "./observer.ts";
import type { Pipeline } from "./pipeline.ts";
import { SimPool } from "./pool.ts";
import { Random } from "./random.ts";
import { SimRepository } from "./repository.ts";
import { SimSockets } from "./sockets.ts";
import { OFFER_MS } from "./specification.ts";
import { must } from "./violation.ts";

export const ORG = "acme";
export const ACTOR = { actor: "token:t", requestId: null };
/** In the far future, so that no real alarm fires while a history is repeated against the real object. */
export const EPOCH = Date.UTC(2100, 0);

/** Alarms while no call arrives. Months of silence have about a hundred. */
const MAX_ALARMS = 1_000;

/** One organization's pool with its clock, network, alarm and database, in which faults happen. */
export class Simulator {
  readonly random: Random;
  readonly pool: SimPool;
  readonly database = new SimDatabase();
  /** How often each fault was injected. */
  readonly faults = new Map<Fault, number>();
  readonly pipelines: Pipeline[];
  readonly builds: string[] = [];
  /** Messages in transit, which arrive in any order. */
  readonly delayedMessages: (() => void)[] = [];
  /** Ids of agents that got a hint and have not polled since. */
  readonly hinted = new Set<string>();
  readonly sockets = new SimSockets();
  readonly gitHosts = new SimGitHosts();
  readonly deliveries = new SimDeliveries(this);
  readonly repository: SimRepository;
  readonly files = new SimFiles(this);
  readonly artifacts: SimArtifacts;
  /** Whether files have jobs: in every other history, so that the others stay unchanged. */
  readonly hasJobs: boolean;
  /** Whether strangers push too. */
  readonly hasForks: boolean;
  /** The token that registers agents, until it is revoked with all of them. */
  registrationToken = "t0";
  now = EPOCH;
  /** Milliseconds since the start, regardless of jumps of the clock. */
  elapsed = 0;
  poolRestores = 0;
  /** Comparisons after a restore for which D1 is unavailable. */
  awayAfterRestore = 0;
  /** The last phase of a history: no more faults are injected. */
  isHealing = false;
  /** Few machines can reach the git host. */
  readonly isGitHostRestricted: boolean;
  /** Builds take many heartbeats, and most agents keep their sockets open in the meantime. */
  readonly hasLongBuilds: boolean;
  readonly #ids = new Map<string, number>();
  readonly #observer: Observer | undefined;

  constructor(seed: number, history: number, rules: Rules, observer?: Observer) {
    this.random = new Random(seed, history);
    this.hasJobs = history % 2 === 1;
    this.hasForks = history % 8 >= 6;
    this.artifacts = new SimArtifacts(seed, history);
    this.#observer = observer;
    this.pool = new SimPool(ORG, rules, (push) => this.#pushed(push), observer);
    this.isGitHostRestricted = this.random.chance(0.15);
    this.hasLongBuilds = this.random.chance(0.15);
    this.pipelines = ["p1", "p2"].map((id) => this.#newPipeline(id));
    this.repository = new SimRepository(this);
    if (this.random.chance(0.1)) this.pool.context.maxQueued = 3;
  }

  /** The next id with this prefix: b1, b2, ... */
  newId(prefix: string): string {
    const number = (this.#ids.get(prefix) ?? 0) + 1;
    this.#ids.set(prefix, number);
    return `${prefix}${number}`;
  }

  /** Decides whether the fault happens now, and counts it. Never while healing. */
  injectFault(fault: Fault, probability: number, about = ""): boolean {
    if (this.isHealing || !this.random.chance(probability)) return false;
    this.countFault(fault, about);
    return true;
  }

  countFault(fault: Fault, about = ""): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    this.#observer?.onFault?.(this.now, fault, about);
  }

  note(text: string): void {
    this.#observer?.onNote?.(this.now, text);
  }

  /** Calls the pool directly, without the network's faults. The first grant or number since a load waits for D1. */
  call<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>> {
    if (command === "claim" || command === "enqueue" || command === "arrive") this.deliveries.compare();
    return this.pool.call(this.now, command, input);
  }

  /** Calls the pool over the network. Returns undefined if no answer arrives. */
  request<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>> | undefined {
    if (this.injectFault("request lost", 0.03, command)) return undefined;
    if (this.injectFault("message late", 0.03, command)) this.#delay(command, input);
    const answer = this.call(command, input);
    if (this.injectFault("call doubled", 0.03, command)) return this.call(command, input);
    return this.injectFault("answer lost", 0.04, command) ? undefined : answer;
  }

  /**
   * A Worker creates the id of a build and calls at once. If the object is restored in the meantime, that call has
   * failed.
   */
  #delay<C extends Command>(command: C, input: InputOf<C>): void {
    const { poolRestores } = this;
    this.delayedMessages.push(() => {
      if ((command !== "enqueue" && command !== "arrive") || poolRestores === this.poolRestores)
        this.call(command, input);
    });
  }

  /** Sends a heartbeat over the agent's own socket. Returns undefined if no answer arrives. */
  beat(beat: InputOf<"heartbeat">): Result<OutputOf<"heartbeat">> | undefined {
    if (this.injectFault("request lost", 0.05, "heartbeat by socket")) return undefined;
    if (this.injectFault("message late", 0.05, "heartbeat by socket"))
      this.delayedMessages.push(() => this.#beatNow(beat));
    const answer = this.#beatNow(beat);
    if (this.injectFault("call doubled", 0.05, "heartbeat by socket")) this.#beatNow(beat);
    return this.injectFault("answer lost", 0.06, "heartbeat by socket") ? undefined : answer;
  }

  #beatNow(beat: InputOf<"heartbeat">): Result<OutputOf<"heartbeat">> | undefined {
    const { agentId, fence } = beat;
    if (!this.sockets.hasOwn(agentId)) return undefined;
    const answer = this.call("heartbeat", { ...beat, bySocket: true });
    const deadline = answer.ok ? answer.value.leaseExpiresAt : undefined;
    if (deadline) this.sockets.keep(agentId, { fence: fence!, expiresAt: Date.parse(deadline) });
    return answer;
  }

  #pushed({ agentId, hint }: Push): void {
    if (hint.type !== "look" || this.injectFault("hint lost", 0.15, agentId)) return;
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
      supersedes: random.chance(0.7),
    };
  }

  /** Advances the clock and fires the alarms on the way, unless a fault prevents it. */
  advanceTime(milliseconds: number): void {
    const until = this.now + milliseconds;
    this.elapsed += milliseconds;
    const { pool } = this;
    const isLate = this.injectFault("alarm late", 0.06);
    if (this.injectFault("alarm dropped", 0.02)) pool.alarmAt = null;
    for (let alarms = 0; !isLate && pool.alarmAt !== null && pool.alarmAt <= until; alarms++) {
      must(17, alarms < MAX_ALARMS, "the alarm never stops firing");
      this.now = Math.max(this.now, pool.alarmAt);
      if (this.injectFault("object evicted", 0.05, "asleep until the alarm")) this.evict(false);
      this.fireAlarm();
    }
    this.now = until;
    this.#withdrawHints();
    for (const agentId of this.sockets.overdue(this.now)) this.closeSocket(agentId);
    if (pool.alarmAt === null || isLate) this.fireAlarm();
  }

  /** The alarm fires, or the cron trigger replaces a lost one. */
  fireAlarm(): void {
    this.pool.alarmAt = null;
    this.deliveries.compare();
    this.call("sweep", null);
    if (this.injectFault("alarm doubled", 0.05)) this.call("sweep", null);
    this.deliveries.deliverDue();
  }

  /** The object's own timer, which withdraws hints that no agent followed. */
  #withdrawHints(): void {
    const isOverdue = [...this.pool.state.offers.values()].some(({ at }) => this.now >= at + OFFER_MS);
    if (isOverdue) this.call("sweep", null);
  }

  closeSocket(agentId: string): void {
    this.sockets.delete(agentId);
    this.hinted.delete(agentId);
    this.call("leave", { agentId });
  }

  /** Evicts the object and restarts it. Hibernated sockets survive, except in a crash or deploy. */
  evict(isCrash = this.random.chance(0.7)): void {
    if (isCrash) {
      this.sockets.clear();
      this.hinted.clear();
    }
    this.deliveries.forget();
    this.#observer?.onWake?.(this.now, isCrash);
    this.pool.reload(this.now, this.sockets.found());
  }
}
