import type { Result } from "../../src/domain/pool/commands.ts";
import type { Push } from "../../src/domain/pool/decision.ts";
import type { BuildFacts, Change, JobFacts, Offer, Outcome } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { checkAccepted, checkOffers, checkRefused } from "./check-answers.ts";
import { checkCommit } from "./check-commits.ts";
import { checkState } from "./check-state.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

/** A build as its callers saw it. */
interface ObservedBuild {
  starts: number;
  unstarted: number;
  /** The latest deadline that the pool promised to its agent. */
  promisedUntil: number;
  /** Extensions in a row of its lease without a call of its agent. */
  unaskedExtensions: number;
  /** How often an agent released it because it could not fetch the repository. */
  unfetchedReleases: number;
  isCanceled: boolean;
  reported: Outcome | null;
}
interface ObservedAgent {
  boots: string[];
  isRemoved: boolean;
  tokenId: string | undefined;
  /** Time of its last sign of life. */
  seenAt: number;
  /** Builds in a row that it took and did not start, and when the last of these leases ended. */
  ignored: number;
  ignoredAt: number;
}

interface Observations {
  builds: Map<string, ObservedBuild>;
  agents: Map<string, ObservedAgent>;
  revoked: Set<string>;
  keys: Map<string, { buildId: string; at: number; bodyHash: string }>;
  numbers: Map<string, number>;
}

// biome-ignore lint/suspicious/noExplicitAny: the input of any command
export type AnyInput = any;

/** A call, with the facts from before it that the checks compare with. */
export interface Call {
  command: string;
  input: AnyInput;
  now: number;
  build: BuildFacts | undefined;
  job: JobFacts | undefined;
  heldBuild: string | undefined;
  offers: [buildId: string, offer: Offer][];
  audits: string[];
}

const isSignOfLife = ({ command }: Call): boolean =>
  command === "claim" || command === "heartbeat" || command === "wait";

/**
 * Checks every call against the invariants: what it commits (check-commits.ts), what it answers (check-answers.ts) and
 * the state afterwards (check-state.ts). Remembers what callers saw, and asks none of the machine's rules.
 */
export class Checker {
  readonly orgId: string;
  readonly storage: SimStorage;
  observed: Observations = {
    builds: new Map(),
    agents: new Map(),
    revoked: new Set(),
    keys: new Map(),
    numbers: new Map(),
  };
  /** The highest fence ever seen. A restore does not lower it. */
  maxFence = 0;
  #latest = 0;
  call!: Call;

  constructor(orgId: string, storage: SimStorage) {
    this.orgId = orgId;
    this.storage = storage;
  }

  beforeCall(state: PoolState, command: string, input: AnyInput, now: number): void {
    const buildId = input?.buildId ?? input?.id;
    const build = this.storage.rows.builds.get(buildId);
    const job = this.storage.rows.jobs.get(buildId);
    this.call = {
      command,
      input,
      now,
      build,
      job,
      heldBuild: state.index.holding.get(input?.agentId),
      offers: [...state.offers],
      audits: [],
    };
  }

  onCommit(state: PoolState, changes: readonly Change[]): void {
    checkCommit(this, state, changes);
  }

  afterCall(state: PoolState, answer: Result<unknown>, pushes: readonly Push[]): void {
    const call = this.call;
    if (answer.ok) checkAccepted(this, state, answer.value as AnyInput, call);
    else checkRefused(this, state, call);
    checkOffers(state, call);
    if (isSignOfLife(call) && this.isGenuine(call.input)) {
      const agent = this.observed.agents.get(call.input.agentId)!;
      const { bootId } = call.input;
      // A late message of an earlier boot is no sign of life.
      if (!agent.boots.includes(bootId) || agent.boots.at(-1) === bootId) agent.seenAt = call.now;
    }
    if (call.input?.bootId && this.isGenuine(call.input)) {
      const agent = this.observed.agents.get(call.input.agentId);
      if (agent && !agent.boots.includes(call.input.bootId)) {
        agent.boots.push(call.input.bootId);
        agent.ignored = 0;
      }
    }
    must(16, this.storage.rows.builds.size === this.observed.builds.size, "stored builds differ from the builds made");
    this.#latest = Math.max(this.#latest, call.now);
    checkState(state, this.storage, call.now, this.#latest, pushes);
  }

  isGenuine({ agentId, tokenHash }: AnyInput): boolean {
    const agent = this.observed.agents.get(agentId);
    return !!agent && !agent.isRemoved && tokenHash === `hash of ${agentId}`;
  }

  /** The observations as they are now, to restore them together with the pool. */
  snapshot(): Observations {
    return structuredClone(this.observed);
  }
}
