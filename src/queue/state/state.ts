import type { JobGraph } from "../../pipeline/graph/graph.ts";
import type { KeyedBuild, KnownDelivery } from "../commands/commands.ts";
import type { Head, HeadKey } from "../commands/heads.ts";
import type { AgentFacts, Offer, Waiter } from "./agent-facts.ts";
import { type DayCount, noEvents, type PoolEvents } from "./counts.ts";
import { DeadlineQueue } from "./deadline-queue.ts";
import type { BuildChannel, BuildFacts, Channel, Deletion, JobEntry, JobFacts, Pause } from "./facts.ts";
import { type Lane, Queue, type QueuedJob } from "./queue.ts";
import { type Semaphore, Semaphores } from "./semaphores.ts";

/**
 * What the pool waits for. By id of a job: its lease needs attention (`lease`), its agent is told again to stop it
 * (`stop`), it may be handed out again (`delay`), another agent for it is looked for again (`otherAgent`), or nobody has
 * answered its gate (`gate`). By id of an agent: it gets offers again (`offersResume`), or, being ephemeral, is removed
 * (`retirement`). By id of a build: it took too long, its cancel does, or nobody approved its commit (`build`). Under one
 * id: the pool hands jobs out again (`pause`).
 */
export const DEADLINE_KINDS = [
  "lease",
  "stop",
  "delay",
  "otherAgent",
  "offersResume",
  "retirement",
  "gate",
  "build",
  "pause",
] as const;
export type DeadlineKind = (typeof DEADLINE_KINDS)[number];

/** What the pool keeps on disk only, and reads when it needs it. */
export interface Records {
  /** A build that ended within the last 24 hours. */
  ended(buildId: string): BuildFacts | undefined;
  /** A job of such a build, or of one under way, that has ended. */
  endedJob(jobId: string): JobEntry | undefined;
  keyed(caller: string, key: string): KeyedBuild | undefined;
  /** In the order in which the pool heard of them. */
  heads(key: HeadKey): readonly Head[];
  delivery(connectionId: string, deliveryId: string): KnownDelivery | undefined;
  /** What the job gave as its outputs; empty where it gave none. */
  outputs(jobId: string): Record<string, string>;
  lastNumber(repoId: string): number;
  /** Builds that ended and are remembered, in the order of their sequence numbers. */
  endedAfter(seq: number, limit: number): { id: string; seq: number }[];
  lastSeq(): number;
  /** What the row of the newest build says. */
  lastDayCount(): DayCount;
  /** How many entries of the audit (`lists`), or closes of logs, are not delivered yet. */
  pending(channel: BuildChannel): number;
  /** What was deleted of the build. Remembered until nothing can tell it again. */
  deletion(buildId: string): Deletion | undefined;
  /** Every deletion that is remembered. */
  rememberedDeletions(): Deletion[];
}

/**
 * Agents and active builds of one organization, with indices that spare a search through all of them.
 * Only `apply` changes it, with the changes of a decision.
 */
export interface PoolState {
  readonly records: Records;
  orgId: string | null;
  /** The highest fence ever granted. */
  fence: number;
  /** The one that is stored by itself: rows of builds under way say the later ones. */
  storedFence: number;
  seq: number;
  /** Builds of the last day on which any was made. */
  dayCount: DayCount;
  readonly agents: Map<string, AgentFacts>;
  /** Tokens that were revoked lately, and hashes of their replaced secrets, and when. */
  readonly revoked: Map<string, number>;
  /** The builds that have not ended. */
  readonly builds: Map<string, BuildFacts>;
  /** All jobs of these builds, also those that have ended. */
  readonly jobs: Map<string, JobFacts>;
  /** Of each of these builds whose jobs are planned. */
  readonly graphs: Map<string, JobGraph>;
  /** Builds of which something changed: what follows from that is still to be settled. */
  readonly unsettled: Set<string>;
  /** Last contact of each agent, where it is later than the stored one. */
  readonly lastContacts: Map<string, number>;
  /** Agents that wait for offers. */
  readonly waiters: Map<string, Waiter>;
  /** Open offers by job. */
  readonly offers: Map<string, Offer>;
  /** Set while a part of the service is away that every hand-out needs. */
  pause: Pause | null;
  /** By job that its agent has to stop: when the agent was last told, or null once its heartbeat carried the stop. */
  readonly stopNotices: Map<string, number | null>;
  /** Characters of the run values of all active builds, sealed. */
  runValueCharacters: number;
  readonly outbox: Record<Channel, Outgoing>;
  /** The highest version or time of what D1 is told of. */
  sequence: number;
  /** The sequence that D1 had last; a lower one there shows that D1 was restored. */
  databaseSequence: number;
  /** Whether `databaseSequence` is stored. */
  isDatabaseSequenceStored: boolean;
  /** The sequence at the last load, until D1 was compared with it; null afterwards. */
  unchecked: number | null;
  /** Whether `unchecked` is stored. */
  isUncheckedStored: boolean;
  /** After D1 was restored: it has been told again of the ended builds up to this sequence number. */
  resendAfter: number | null;
  /** What happened since the last sweep that was answered. */
  events: PoolEvents;
  readonly deadlines: Record<DeadlineKind, DeadlineQueue>;
  readonly queue: Queue;
  readonly index: Indices;
}

/** Derived from the rest of the state by `indices.ts`. */
interface Indices {
  readonly agentByToken: Map<string, string>;
  /** What each agent can do, as a text that is the same for agents with equal skills. */
  readonly skills: Map<string, string>;
  /** By agent: the job that it holds a lease on. */
  readonly holding: Map<string, string>;
  /** By agent: the job of its open offer. */
  readonly offered: Map<string, string>;
  /** Who holds what only so many may hold at a time. */
  readonly semaphores: Semaphores;
  /** Jobs that wait for others, or for a person. */
  waitingJobs: number;
  /** By skills: the waiters that could take a job, the one that has waited longest first. */
  readonly idleWaiters: Map<string, Set<string>>;
  /** By job. */
  readonly positions: Map<string, IndexedJob>;
  /** By build. */
  readonly places: Map<string, Place>;
  /** Jobs with open offers, by the time at which the offer is withdrawn. */
  readonly offerDeadlines: DeadlineQueue;
  /** Agents by their last stored contact. */
  readonly contacts: DeadlineQueue;
  /** Lanes and agents that may fit each other since the last step. */
  readonly unmatched: { lanes: Set<Lane>; agents: Set<string> };
}

/** What is still to be delivered on one channel. */
interface Outgoing {
  /** Builds, each with the time since when. */
  readonly due: Map<string, number>;
  /** When the next attempt is due, and how many failed in a row. */
  at: number | null;
  failures: number;
}

const nothingDue = (): Outgoing => ({ due: new Map(), at: null, failures: 0 });

/** What the indices hold of a job. */
export interface IndexedJob {
  /** Where it waits for an agent. */
  inQueue: { lane: Lane; queued: QueuedJob } | null;
  holder: string | null;
  /** The semaphores that it holds. */
  semaphores: readonly Semaphore[];
  isWaiting: boolean;
}

/** What the indices hold of a build. */
interface Place {
  /** The semaphore of its pipeline, where it counts for that. */
  semaphores: readonly Semaphore[];
  inputBytes: number;
}

export const emptyState = (records: Records): PoolState => ({
  records,
  orgId: null,
  fence: 0,
  storedFence: 0,
  seq: records.lastSeq(),
  dayCount: records.lastDayCount(),
  agents: new Map(),
  revoked: new Map(),
  builds: new Map(),
  jobs: new Map(),
  graphs: new Map(),
  unsettled: new Set(),
  lastContacts: new Map(),
  waiters: new Map(),
  offers: new Map(),
  pause: null,
  stopNotices: new Map(),
  runValueCharacters: 0,
  outbox: { lists: nothingDue(), logs: nothingDue(), hosts: nothingDue(), deletions: nothingDue() },
  sequence: 0,
  databaseSequence: 0,
  isDatabaseSequenceStored: true,
  unchecked: null,
  isUncheckedStored: false,
  resendAfter: null,
  events: noEvents(),
  deadlines: {
    lease: new DeadlineQueue(),
    stop: new DeadlineQueue(),
    delay: new DeadlineQueue(),
    otherAgent: new DeadlineQueue(),
    offersResume: new DeadlineQueue(),
    retirement: new DeadlineQueue(),
    gate: new DeadlineQueue(),
    build: new DeadlineQueue(),
    pause: new DeadlineQueue(),
  },
  queue: new Queue(),
  index: {
    agentByToken: new Map(),
    skills: new Map(),
    holding: new Map(),
    offered: new Map(),
    semaphores: new Semaphores(),
    waitingJobs: 0,
    idleWaiters: new Map(),
    positions: new Map(),
    places: new Map(),
    offerDeadlines: new DeadlineQueue(),
    contacts: new DeadlineQueue(),
    unmatched: { lanes: new Set(), agents: new Set() },
  },
});

/** Key of a first job. */
const FIRST_KEY = "build";

/** The graph of a build whose jobs are not planned: its first job, which needs nothing. */
const graphOfFirst = (id: string): JobGraph => ({
  hash: "",
  path: null,
  commitSha: null,
  failFast: false,
  facts: { build: {}, repository: {}, vars: {}, changed: {} },
  jobs: [
    {
      id,
      key: FIRST_KEY,
      definition: FIRST_KEY,
      name: FIRST_KEY,
      matrix: null,
      needs: [],
      condition: null,
      mayFail: false,
      failFast: false,
      maxParallel: null,
      concurrency: null,
      gate: null,
      groups: [],
      requires: {},
      timeoutSeconds: 0,
      hasSteps: true,
    },
  ],
});

export const graphOf = ({ graphs }: PoolState, buildId: string): JobGraph =>
  graphs.get(buildId) ?? graphOfFirst(buildId);

/** The jobs of an active build, in the order of its graph, without those whose rows were damaged. */
export const jobsOf = (state: PoolState, buildId: string): JobFacts[] =>
  graphOf(state, buildId).jobs.flatMap(({ id }) => state.jobs.get(id) ?? []);

/** Something changed of the build: what follows from that is settled in the same step. */
export const unsettle = (state: PoolState, buildId: string): void => {
  if (state.builds.has(buildId)) state.unsettled.add(buildId);
};
