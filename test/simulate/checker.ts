import type { Result } from "../../src/queue/commands/commands.ts";
import type { Stored } from "../../src/queue/commands/reconcile.ts";
import type { AgentSockets } from "../../src/queue/commands/wake.ts";
import type { Push } from "../../src/queue/state/decision.ts";
import type { Change } from "../../src/queue/state/facts.ts";
import type { Rules } from "../../src/queue/state/rules.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import { checkAccepted, checkOffers, checkRefused } from "./check-answers.ts";
import { checkShown } from "./check-artifacts.ts";
import { checkCommit } from "./check-commits.ts";
import { checkJobs } from "./check-jobs.ts";
import { checkPause, pauseAfterWake } from "./check-pause.ts";
import { checkSemaphores } from "./check-semaphores.ts";
import { checkState } from "./check-state.ts";
import { checkStops } from "./check-stops.ts";
import { checkEndedByStranger, checkStrangers } from "./check-strangers.ts";
import { type AnyInput, type Call, type CheckContext, forget, type Observations } from "./observations.ts";
import { isEnded, LEASE_MS } from "./specification.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

const NO_OFFERS: Call["offers"] = [];
const NO_GATES: Call["gates"] = new Map();

const isSignOfLife = ({ command }: Call): boolean =>
  command === "claim" || command === "heartbeat" || command === "wait";

/**
 * Checks every call against the invariants: its commit (check-commits.ts), its answer (check-answers.ts) and the state
 * afterwards (check-state.ts). Records the callers' observations, and uses none of the machine's rules.
 */
export class Checker implements CheckContext {
  readonly orgId: string;
  readonly storage: SimStorage;
  observed: Observations = {
    jobs: new Map(),
    agents: new Map(),
    leases: new Set(),
    revoked: new Set(),
    ended: new Set(),
    builds: new Map(),
    canceledJobs: new Set(),
    posted: new Map(),
    kept: new Map(),
    winners: new Map(),
    keys: new Map(),
    numbers: new Map(),
    deliveries: new Map(),
    heads: new Map(),
    strangers: new Map(),
    pause: null,
  };
  maxFence = 0;
  readonly #rules: Pick<Rules, "showsArtifact">;
  #latest = 0;
  call!: Call;

  constructor(orgId: string, storage: SimStorage, rules: Pick<Rules, "showsArtifact">) {
    this.orgId = orgId;
    this.storage = storage;
    this.#rules = rules;
  }

  beforeCall(state: PoolState, command: string, input: AnyInput, now: number): void {
    const id = input?.jobId ?? input?.buildId ?? input?.id;
    const job = this.storage.rows.jobs.get(id);
    const build = this.storage.rows.builds.get(job?.buildId ?? id);
    // If the clock was set back, nobody was seen later than now.
    for (const agent of this.observed.agents.values()) if (agent.seenAt > now) agent.seenAt = now;
    this.call = {
      command,
      input,
      now,
      build,
      job,
      heldJob: state.index.holding.get(input?.agentId),
      offers: state.offers.size > 0 ? [...state.offers] : NO_OFFERS,
      gates: command === "decideGate" ? this.storage.askedGates() : NO_GATES,
      audits: [],
      touched: new Set(),
      ended: new Set(),
    };
  }

  /** A new object adopts the sockets that it finds. */
  beforeWake(state: PoolState, found: ReadonlyMap<string, AgentSockets>, now: number): void {
    this.beforeCall(state, "wake", { found }, now);
  }

  /**
   * Each lease has at least the deadline that its agent knows, whatever part was stored. If the clock was set back
   * since, it has a whole lease from now.
   */
  afterWake(state: PoolState): void {
    this.observed.pause = pauseAfterWake(state);
    for (const [id, { lease }] of state.jobs) {
      if (!lease) continue;
      const seen = this.observed.jobs.get(id)!;
      seen.promisedUntil = Math.min(seen.promisedUntil, Math.max(lease.expiresAt, this.call.now + LEASE_MS));
      must(5, lease.expiresAt >= seen.promisedUntil, "a renewed lease lost time in an eviction");
    }
  }

  onCommit(state: PoolState, changes: readonly Change[]): void {
    checkCommit(this, state, changes);
  }

  afterCall(state: PoolState, answer: Result<unknown>, pushes: readonly Push[]): void {
    const call = this.call;
    if (answer.ok) checkAccepted(this, state, answer.value as AnyInput, call);
    else checkRefused(this, state, call);
    checkPause(this, state, answer as Result<AnyInput>, pushes);
    checkOffers(state, call);
    checkStops(this, state, answer, pushes);
    checkJobs(this, state);
    checkSemaphores(state, this.storage, call);
    checkShown(this, this.#rules);
    checkStrangers(this, state);
    if (call.command === "arrive") checkEndedByStranger(this);
    if (isSignOfLife(call) && this.isGenuine(call.input)) {
      const agent = this.observed.agents.get(call.input.agentId)!;
      const { bootId } = call.input;
      // A late message of an earlier boot does not count as contact.
      if (!agent.boots.includes(bootId) || agent.boots.at(-1) === bootId) agent.seenAt = call.now;
    }
    if (call.input?.bootId && this.isGenuine(call.input)) {
      const agent = this.observed.agents.get(call.input.agentId);
      if (agent && !agent.boots.includes(call.input.bootId)) {
        agent.boots.push(call.input.bootId);
        agent.ignored = 0;
      }
    }
    if (call.command === "reconcile") this.#forgetDeleted(call.input);
    must(
      16,
      this.storage.rows.builds.size === this.observed.builds.size,
      "stored builds differ from the created builds",
    );
    this.#latest = Math.max(this.#latest, call.now);
    checkState(this, state, this.#latest, pushes);
  }

  isGenuine({ agentId, tokenHash }: AnyInput): boolean {
    const agent = this.observed.agents.get(agentId);
    return !!agent && !agent.isRemoved && tokenHash === `hash of ${agentId}`;
  }

  /** Callers saw D1's content, even if the restored observations lack it. */
  poolWasRestored({ builds, numbers }: Stored): void {
    for (const { id, status } of builds) if (isEnded(status)) this.observed.ended.add(id);
    this.#numbersWereGiven(numbers);
  }

  /** A restored pool deletes again what D1 reports as deleted. */
  #forgetDeleted({ deleted }: Stored): void {
    for (const { buildId } of deleted) if (!this.storage.rows.builds.has(buildId)) forget(this.observed, buildId);
  }

  #numbersWereGiven(numbers: Stored["numbers"]): void {
    const last = this.observed.numbers;
    for (const { repoId, number } of numbers) last.set(repoId, Math.max(number, last.get(repoId) ?? 0));
  }

  /** From now on the pool knows D1's removals. */
  poolIsReconciled({ numbers, removedAgents, revoked }: Stored): void {
    const { observed } = this;
    this.#numbersWereGiven(numbers);
    for (const id of removedAgents) {
      const agent = observed.agents.get(id);
      if (agent) agent.isRemoved = true;
    }
    for (const token of revoked) observed.revoked.add(token);
  }

  /** Once both sides have been compared, D1 considers no revoked token valid. */
  checkRevocations(valid: ReadonlySet<string>): void {
    for (const token of this.observed.revoked) must(15, !valid.has(token), "a revoked token is valid again");
  }

  /** Once every build has ended and nothing waits, nobody can write to a log. */
  checkCloses(closed: ReadonlySet<string>): void {
    for (const lease of this.observed.leases) must(3, closed.has(lease), `the log of lease ${lease} is still open`);
  }

  /** The current observations, to restore them together with the pool. */
  snapshot(): Observations {
    return structuredClone(this.observed);
  }
}
