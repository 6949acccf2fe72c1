import type { Result } from "../../src/domain/pool/commands.ts";
import type { Push } from "../../src/domain/pool/decision.ts";
import type { BuildFacts, Change, JobFacts, Offer, Outcome } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { checkAccepted, checkOffers, checkRefused } from "./check-answers.ts";
import { checkCommit } from "./check-commits.ts";
import { checkState } from "./check-state.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

/** What is known of a build from what was told about it. */
interface ObservedBuild {
  starts: number;
  unstarted: number;
  /** Until when its agent was told that the lease holds. */
  promisedUntil: number;
  /** Times in a row that its deadline moved without a word of its agent. */
  unaskedExtensions: number;
  /** Times it was given back because it could not be fetched. */
  givenElsewhere: number;
  isCanceled: boolean;
  reported: Outcome | null;
}
interface ObservedAgent {
  boots: string[];
  isRemoved: boolean;
  tokenId: string | undefined;
  /** When it last showed that it is there. */
  seenAt: number;
  /** Builds in a row that it let lie, and when the last was taken from it. */
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

// biome-ignore lint/suspicious/noExplicitAny: a call of any verb, with that verb's own input
export type AnyInput = any;

/** A call, and what it was about before it came. */
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

/** Sees every call, every commit and every answer, and remembers what was promised to whom. */
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
  /** Never goes back, not even with a restore. */
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
      // A late word of an earlier boot says nothing of the agent.
      if (!agent.boots.includes(bootId) || agent.boots.at(-1) === bootId) agent.seenAt = call.now;
    }
    if (call.input?.bootId && this.isGenuine(call.input)) {
      const agent = this.observed.agents.get(call.input.agentId);
      if (agent && !agent.boots.includes(call.input.bootId)) {
        agent.boots.push(call.input.bootId);
        agent.ignored = 0;
      }
    }
    must(16, this.storage.rows.builds.size === this.observed.builds.size, "builds made and builds kept differ");
    this.#latest = Math.max(this.#latest, call.now);
    checkState(state, this.storage, call.now, this.#latest, pushes);
  }

  isGenuine({ agentId, tokenHash }: AnyInput): boolean {
    const agent = this.observed.agents.get(agentId);
    return !!agent && !agent.isRemoved && tokenHash === `hash of ${agentId}`;
  }

  /** The memory as it is now, to be put back when the pool is restored to this point. */
  snapshot(): Observations {
    return structuredClone(this.observed);
  }
}
