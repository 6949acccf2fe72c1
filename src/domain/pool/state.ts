import { DeadlineQueue } from "./deadline-queue.ts";
import type { AgentFacts, BuildFacts, JobFacts, Offer, Records, Waiter } from "./facts.ts";
import { type Lane, Queue } from "./queue.ts";

/**
 * What the pool waits for. By id of a build: its lease needs attention (`lease`), it may be handed out again (`delay`),
 * or another agent for it is looked for again (`otherAgent`). By id of an agent: it gets offers again (`offersResume`),
 * or it is removed after its one build (`retirement`).
 */
export const DEADLINE_KINDS = ["lease", "delay", "otherAgent", "offersResume", "retirement"] as const;
export type DeadlineKind = (typeof DEADLINE_KINDS)[number];

/**
 * Agents and live builds of one organization, and the indices that answer without looking at all of them.
 * Only `apply` changes it, and only by what a decision says.
 */
export interface PoolState {
  readonly records: Records;
  orgId: string | null;
  /** The highest fence ever granted. */
  fence: number;
  seq: number;
  readonly agents: Map<string, AgentFacts>;
  /** Tokens that were revoked with their agents of late, and when. */
  readonly revoked: Map<string, number>;
  readonly builds: Map<string, BuildFacts>;
  readonly jobs: Map<string, JobFacts>;
  /** Signs of life since they were last written down. */
  readonly heard: Map<string, number>;
  readonly waiters: Map<string, Waiter>;
  /** Outstanding hints by build. */
  readonly offers: Map<string, Offer>;
  /** Characters of what the runs of live builds were given. */
  runValueCharacters: number;
  /** Builds that D1 does not know as they are now. */
  readonly dirty: Set<string>;
  /** Outbox entries that were not delivered yet. */
  pendingEntries: number;
  /** When the next attempt to write to D1 is due, and how many failed in a row. */
  flush: { at: number | null; failures: number };
  readonly deadlines: Record<DeadlineKind, DeadlineQueue>;
  readonly queue: Queue;
  readonly index: Indices;
}

/** What can be had from the rest of the state, kept at hand by `places.ts`. */
export interface Indices {
  readonly agentByToken: Map<string, string>;
  /** What each agent can do, as a text that agents alike have in common. */
  readonly skills: Map<string, string>;
  /** The build an agent holds a lease on. */
  readonly holding: Map<string, string>;
  /** The build an agent was told to look for. */
  readonly offered: Map<string, string>;
  /** Live builds by pipeline, and those that a woken waiter is about to claim. */
  readonly leasedByPipeline: Map<string, number>;
  readonly offeredByPipeline: Map<string, number>;
  /** Waiters that could take a build, by their skills, the longest waiting first. */
  readonly idleWaiters: Map<string, Set<string>>;
  readonly positions: Map<string, Position>;
  /** Builds of outstanding hints, by when these are given up. */
  readonly offerDeadlines: DeadlineQueue;
  /** Agents by when they were heard of. */
  readonly contacts: DeadlineQueue;
  /** Where a build and a waiter may fit each other that did not before. */
  readonly unmatched: { lanes: Set<Lane>; agents: Set<string> };
}

/** Where a build stands in the indices. */
export interface Position {
  lane: Lane | null;
  holder: string | null;
  /** The pipeline, while the build is live. */
  leasedIn: string | null;
  inputBytes: number;
}

export const emptyState = (records: Records): PoolState => ({
  records,
  orgId: null,
  fence: 0,
  seq: records.lastSeq(),
  agents: new Map(),
  revoked: new Map(),
  builds: new Map(),
  jobs: new Map(),
  heard: new Map(),
  waiters: new Map(),
  offers: new Map(),
  runValueCharacters: 0,
  dirty: new Set(),
  pendingEntries: records.pendingEntries(),
  flush: { at: null, failures: 0 },
  deadlines: {
    lease: new DeadlineQueue(),
    delay: new DeadlineQueue(),
    otherAgent: new DeadlineQueue(),
    offersResume: new DeadlineQueue(),
    retirement: new DeadlineQueue(),
  },
  queue: new Queue(),
  index: {
    agentByToken: new Map(),
    skills: new Map(),
    holding: new Map(),
    offered: new Map(),
    leasedByPipeline: new Map(),
    offeredByPipeline: new Map(),
    idleWaiters: new Map(),
    positions: new Map(),
    offerDeadlines: new DeadlineQueue(),
    contacts: new DeadlineQueue(),
    unmatched: { lanes: new Set(), agents: new Set() },
  },
});

export const isTerminal = ({ status }: BuildFacts): boolean =>
  status === "succeeded" || status === "failed" || status === "canceled";
