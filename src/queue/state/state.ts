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
 * The pool's deadlines. By job id: its lease needs attention (`lease`), its agent must get another notice to stop it
 * (`stop`), the pool may hand it out again (`delay`), the pool looks again for another agent (`otherAgent`), or nobody
 * has answered its gate (`gate`). By agent id: it gets offers again (`offersResume`), or the pool removes it if it is
 * ephemeral (`retirement`). By build id: it or its cancel took too long, or nobody approved its commit (`build`). Under
 * one id: the pool hands out jobs again (`pause`).
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

/** Records that are only on disk. The pool reads them when it needs them. */
export interface Records {
  /** Returns a build that ended within the last 24 hours. */
  ended(buildId: string): BuildFacts | undefined;
  /** Returns an ended job of such a build, or of an active build. */
  endedJob(jobId: string): JobEntry | undefined;
  keyed(caller: string, key: string): KeyedBuild | undefined;
  /** Returns the heads in the order in which the pool learned of them. */
  heads(key: HeadKey): readonly Head[];
  delivery(connectionId: string, deliveryId: string): KnownDelivery | undefined;
  /** Returns the job's outputs, which may be empty. */
  outputs(jobId: string): Record<string, string>;
  lastNumber(repoId: string): number;
  /** Returns remembered ended builds, in the order of their sequence numbers. */
  endedAfter(seq: number, limit: number): { id: string; seq: number }[];
  lastSeq(): number;
  /** Returns the count in the newest build's row. */
  lastDayCount(): DayCount;
  /** Returns the number of undelivered audit entries (`lists`) or log closes. */
  pending(channel: BuildChannel): number;
  /**
   * Returns a person's deletion of the build. The pool remembers the deletion until nothing can report the build
   * again.
   */
  deletion(buildId: string): Deletion | undefined;
  /** Returns every remembered deletion. */
  rememberedDeletions(): Deletion[];
}

/**
 * One organization's agents and active builds, with indices that avoid a search through all of them. Only `apply`
 * changes it, with a decision's changes.
 */
export interface PoolState {
  readonly records: Records;
  orgId: string | null;
  /** The highest fence ever granted. */
  fence: number;
  /** The highest fence that is stored separately. Rows of active builds contain later fences. */
  storedFence: number;
  seq: number;
  /** The number of builds on the last day that had any builds. */
  dayCount: DayCount;
  readonly agents: Map<string, AgentFacts>;
  /** Recently revoked tokens, and hashes of replaced secrets, with the time of their revocation. */
  readonly revoked: Map<string, number>;
  /** The builds that have not ended. */
  readonly builds: Map<string, BuildFacts>;
  /** All jobs of these builds, including ended ones. */
  readonly jobs: Map<string, JobFacts>;
  /** The graphs of these builds, once their jobs are planned. */
  readonly graphs: Map<string, JobGraph>;
  /** Changed builds that the pool must still settle. */
  readonly unsettled: Set<string>;
  /** Each agent's last contact, if it is later than the stored one. */
  readonly lastContacts: Map<string, number>;
  /** Agents that wait for offers. */
  readonly waiters: Map<string, Waiter>;
  /** Open offers by job. */
  readonly offers: Map<string, Offer>;
  /** Set while a part of the service that every hand-out needs is unavailable. */
  pause: Pause | null;
  /**
   * For each job that its agent must stop, the time of the last notification; null once the agent's heartbeat got the
   * stop.
   */
  readonly stopNotices: Map<string, number | null>;
  /** The number of characters of all active builds' run values, sealed. */
  runValueCharacters: number;
  readonly outbox: Record<Channel, Outgoing>;
  /** The highest version or time among the records for D1. */
  sequence: number;
  /** The last known sequence in D1. If D1 has a lower sequence than this, D1 was restored. */
  databaseSequence: number;
  /** Whether `databaseSequence` is stored. */
  isDatabaseSequenceStored: boolean;
  /** The sequence at the last load; null once it was compared with D1. */
  unchecked: number | null;
  /** Whether `unchecked` is stored. */
  isUncheckedStored: boolean;
  /** The sequence number up to which D1 got the ended builds again after a restore of D1. */
  resendAfter: number | null;
  /** Events since the last answered sweep. */
  events: PoolEvents;
  readonly deadlines: Record<DeadlineKind, DeadlineQueue>;
  readonly queue: Queue;
  readonly index: Indices;
}

/** Derived from the rest of the state by `indices.ts`. */
interface Indices {
  readonly agentByToken: Map<string, string>;
  /** Each agent's skills, as a text that is equal for agents with equal skills. */
  readonly skills: Map<string, string>;
  /** For each agent, the job on which it holds a lease. */
  readonly holding: Map<string, string>;
  /** For each agent, the job of its open offer. */
  readonly offered: Map<string, string>;
  /** The holders of all semaphores. */
  readonly semaphores: Semaphores;
  /** The number of jobs that wait for other jobs or for a person. */
  waitingJobs: number;
  /** For each text of skills, the waiters that could take a job. The waiter that has waited longest is first. */
  readonly idleWaiters: Map<string, Set<string>>;
  /** Each job's entry. */
  readonly positions: Map<string, IndexedJob>;
  /** Each build's entry. */
  readonly places: Map<string, Place>;
  /** Jobs with open offers, by the time when the pool withdraws the offer. */
  readonly offerDeadlines: DeadlineQueue;
  /** Agents by their last stored contact. */
  readonly contacts: DeadlineQueue;
  /** Lanes and agents that may fit each other since the last step. */
  readonly unmatched: { lanes: Set<Lane>; agents: Set<string> };
}

/** Undelivered changes on one channel. */
interface Outgoing {
  /** Builds, with the time since which they are due. */
  readonly due: Map<string, number>;
  /** When the next attempt is due, and the number of consecutive failures. */
  at: number | null;
  failures: number;
}

const nothingDue = (): Outgoing => ({ due: new Map(), at: null, failures: 0 });

/** A job's entry in the indices. */
export interface IndexedJob {
  /** The job's place while it waits for an agent. */
  inQueue: { lane: Lane; queued: QueuedJob } | null;
  holder: string | null;
  /** The semaphores that the job holds. */
  semaphores: readonly Semaphore[];
  isWaiting: boolean;
}

/** A build's entry in the indices. */
interface Place {
  /** The semaphore of the build's pipeline, while the build counts toward the pipeline's limit. */
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

/** The key of a first job. */
const FIRST_KEY = "build";

/** Returns the graph of a build without planned jobs. It has only the first job, which needs no other job. */
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

/** Returns an active build's jobs in graph order. Leaves out jobs with damaged rows. */
export const jobsOf = (state: PoolState, buildId: string): JobFacts[] =>
  graphOf(state, buildId).jobs.flatMap(({ id }) => state.jobs.get(id) ?? []);

/** Marks a changed build. The pool settles it in the same step. */
export const unsettle = (state: PoolState, buildId: string): void => {
  if (state.builds.has(buildId)) state.unsettled.add(buildId);
};
