import { DeadlineQueue } from "./deadline-queue.ts";
import type { AgentFacts, BuildFacts, JobFacts, Offer, Records, Waiter } from "./facts.ts";
import { type Lane, Queue } from "./queue.ts";
import { IGNORED_LIMIT, UNRESPONSIVE_MS } from "./rules.ts";

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
  readonly waiting: Map<string, Waiter>;
  /** Outstanding hints by build. */
  readonly offers: Map<string, Offer>;
  /** Characters of what the runs of live builds were given. */
  inputBytes: number;
  /** Builds that D1 does not know as they are now. */
  readonly dirty: Set<string>;
  /** Outbox entries that were not delivered yet. */
  pendingEntries: number;
  /** When the next attempt to write to D1 is due, and how many failed in a row. */
  flush: { at: number | null; failures: number };
  readonly deadlines: DeadlineQueue;
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
  readonly leased: Map<string, number>;
  readonly coming: Map<string, number>;
  /** Waiters that could take a build, by their skills, the longest waiting first. */
  readonly idle: Map<string, Set<string>>;
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
  waiting: new Map(),
  offers: new Map(),
  inputBytes: 0,
  dirty: new Set(),
  pendingEntries: records.pendingEntries(),
  flush: { at: null, failures: 0 },
  deadlines: new DeadlineQueue(),
  queue: new Queue(),
  index: {
    agentByToken: new Map(),
    skills: new Map(),
    holding: new Map(),
    offered: new Map(),
    leased: new Map(),
    coming: new Map(),
    idle: new Map(),
    positions: new Map(),
    offerDeadlines: new DeadlineQueue(),
    contacts: new DeadlineQueue(),
    unmatched: { lanes: new Set(), agents: new Set() },
  },
});

/** When a lease asks for attention: it ends, or its build has taken too long. */
export const leaseDue = ({ lease, timeoutSeconds }: JobFacts): number | null => {
  if (!lease) return null;
  if (lease.startedAt === null || lease.stop) return lease.expiresAt;
  return Math.min(lease.expiresAt, lease.startedAt + timeoutSeconds * 1000);
};

/** When an agent that waits, but ignored what it was offered, is to be tried again. */
export const offersResumeAt = (state: PoolState, agentId: string): number | null => {
  const agent = state.agents.get(agentId);
  const waiter = state.waiting.get(agentId);
  if (!agent || !waiter) return null;
  const since = [agent, waiter].filter(({ ignored }) => ignored >= IGNORED_LIMIT).map(({ ignoredAt }) => ignoredAt);
  return since.length > 0 ? Math.max(...since) + UNRESPONSIVE_MS : null;
};
