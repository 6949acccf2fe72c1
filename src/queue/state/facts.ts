import type { BuildOrigin, HostTarget } from "../../githosts/core/build-origin.ts";
import type { Ask, HostState, ToldState } from "../../githosts/core/host-report.ts";
import type { JobGraph } from "../../pipeline/graph/graph.ts";
import type { GateDecision, JobCause, JobEnd, StopReason } from "../../pipeline/graph/job-end.ts";
import type { ArtifactPlace, StoredArtifact } from "../../protocol/artifact.ts";
import type { BuildPart, BuildReason } from "../../protocol/build.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import type { Feature } from "../../protocol/jobs.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { StoredTests, TestPlace } from "../../protocol/test-report.ts";
import type { AuditFact, KeyedBuild, KnownDelivery, RunValues } from "../commands/commands.ts";
import type { Head, HeadKey } from "../commands/heads.ts";
import type { AgentFacts, Offer, Waiter } from "./agent-facts.ts";
import type { DayCount, LossCause } from "./counts.ts";

/** A named set of files that an agent sends under one lease. Its bytes are in the archive. */
export interface ArtifactFacts extends StoredArtifact {
  /** Of the archive, where it comes in several parts, until it is whole. */
  uploadId?: string;
  isKept?: boolean;
  /** The same name was begun anew with other sizes. */
  isReplaced?: boolean;
}

/* All times are milliseconds since 1970. Facts are immutable: each change stores a new record. */

/**
 * What is built, and how it ended, with the fields of the build that `BUILD_FIELDS` says are `of` a request or of facts.
 * What is leased, run and logged are its jobs: there is always at least one.
 */
export interface BuildFacts extends BuildPart<"request" | "facts"> {
  /** Sequence number in the pool: the age in the queue. */
  seq: number;
  pipelineVersion: number | null;
  /** Absent where a request made the build. */
  origin?: BuildOrigin | null;
  /** Absent where no git host hears of the build. */
  host?: HostTarget | null;
  /** The state that was reported to the git host last, as far as a row remembers. */
  toldHost?: ToldState;
  /** Absent where its code is that of the repository. */
  trust?: "untrusted";
  /** Who approved its commit, where a person has to. Absent where nobody is asked. */
  approval?: Gated;
  /** What its pipeline and its trigger require: its file may add to that. */
  requires: Requires;
  /** Builds of its pipeline that may be leased at a time; null where there is no limit. */
  maxParallel: number | null;
  maxAttempts: number;
  /** Characters of the run's own values, sealed. */
  inputBytes: number;
  /** The lease under which an agent read its jobs from its file. Absent where none did. */
  plannedBy?: { agentId: string; fence: number; attempt: number };
  /** When it ends in any case; null until its jobs are planned. */
  until: number | null;
  /** From its first lease until nothing of it is ready or leased: it counts for its pipeline's limit of builds. */
  holdsPlace: boolean;
  /** When it was canceled as a whole; jobs that clean up may run until `until` of it. */
  cancel: { at: number; until: number } | null;
  /** Set while the build waits for gates alone: the jobs with these gates, and what a git host shows meanwhile. */
  waitsAt?: { jobs: string[]; hostStatus: HostState; asks?: Ask[] } | null;
  /** What people read about its end or its last attempt. Absent where there is none. */
  message?: string | null;
  /** Whether D1 has the creation of the build or, once it has ended, its end: as far as a row remembers. */
  isTold?: boolean;
  /** How many builds its organization had made on its day (UTC), this one included. Absent in rows of older releases. */
  ofDay?: number;
  queuedAt: number;
  /** Follows from its jobs, as do `status` and, until it ends, `message`. */
  startedAt: number | null;
  finishedAt: number | null;
  /** Grows with each change that readers can see, so that D1 ignores a write that arrives late. */
  version: number;
}

/** The wait for a person: since when, until when, and what the person decided. */
export interface Gated {
  since: number;
  until: number;
  decision: GateDecision | null;
}

/**
 * What is leased, run and logged. A build begins with one job, its first, which has the build's id. Where its file has
 * jobs, these planned jobs take the place of the first one.
 */
export interface JobFacts {
  /** Names its log. */
  id: string;
  buildId: string;
  /** Its place in the jobs of its build. */
  index: number;
  /** Its age in the queue; 0 before the queue had it. */
  seq: number;
  status: JobStatus;
  /** When its needs had ended and its condition held; null before. */
  queuedAt: number | null;
  startedAt: number | null;
  /** Why it has to stop. Absent where it need not. */
  reason?: StopReason | null;
  /** What people read about its last attempt. Absent where there is none. */
  message?: string | null;
  /** Its agent sent a secret that only the service masked. */
  leak?: boolean;
  /** Absent where no gate was reached. */
  gate?: Gated | null;
  /** A person canceled this job alone, or fail-fast did, while it was leased: why it will have ended. */
  stopCause?: JobCause | null;
  /** Absent until it has ended. */
  end?: JobEnd | null;
  requires: Requires;
  /** What an agent's program must be able to do besides; absent where it is nothing. */
  features?: Feature[];
  timeoutSeconds: number;
  maxAttempts: number;
  /** Accepted starts, without those that `release` gave back. */
  attempt: number;
  /** Further tries that its file gives it after its steps failed. Absent where it gives none. */
  retry?: number;
  /** Failed tries that another one followed. Absent before the first. */
  retries?: number;
  /** Leases that ended before the agent started the job. They use no attempt, and have a limit of their own. */
  unstarted: number;
  /** Agents that released it because they do not meet its requirements. */
  releasedBy: string[];
  /**
   * The agent that could not fetch the job and left it to another one. It gets the job again once no other agent can take
   * it. `until`: when the pool looks for another agent again; null once there is none.
   */
  passedOver?: { agentId: string; until: number | null } | null;
  /** No agent gets it before this time; 0 where there is no delay. */
  notBefore: number;
  /** The pause of the pool, where this job was tried last in it and has not started since. */
  pause?: Omit<Pause, "fence"> | undefined;
  lease: JobLease | null;
  /** Fence and agent of the latest lease, also after it ended. */
  fence: number;
  agentId: string | null;
  /** The result that the agent of the latest lease reported: of the job, or of a try that another one follows. */
  result: Outcome | null;
  /** What its agents sent, of the latest lease under which they sent anything. */
  artifacts?: ArtifactFacts[];
  /** The days of all of them, also under earlier leases: where in the archive something may be left. */
  artifactDays?: string[];
  /** What its tests said, of the latest lease under which they said anything. */
  tests?: StoredTests;
  /** The days of all such reports, also under earlier leases. */
  testDays?: string[];
}

/** Nothing is handed out before `until`, because a part of the service is away that every hand-out needs. */
export interface Pause {
  /** Hand-outs in a row that failed so. */
  failures: number;
  until: number;
  /** Of the lease by which a hand-out is tried, until it is over. */
  fence: number | null;
}

/** The right of one agent to work on one job, for a time. The fence is unique in the pool, and grows. */
export interface JobLease {
  fence: number;
  agentId: string;
  expiresAt: number;
  startedAt: number | null;
  /** Set when the agent has to stop: the job was canceled, or it runs too long. */
  stop: { reason: "timeout" | StopReason; at: number } | null;
  /** The lease was extended without a heartbeat, after an outage of the service or the loss of its socket. Once only. */
  graced: boolean;
  /** The stored deadline, where heartbeats over the socket have since renewed the lease in memory. */
  writtenUntil?: number;
  /** The agent's heartbeats come over its socket, and that socket was not closed since. */
  keptBy?: "socket" | null;
}

/** A job in the queue, or under a lease, with its build. */
export interface JobEntry {
  build: BuildFacts;
  job: JobFacts;
}

export interface Outcome {
  status: EndedStatus;
  exitCode: number | null;
  reason: BuildReason | null;
}

/** What readers see of a build and no decision depends on: kept on disk only. */
export interface Report extends BuildPart<"report"> {
  /** There are values to mask that came after these steps. */
  masksCame?: boolean;
}

/** Who hears of builds: D1, after the archive; the logs of jobs; git hosts. */
export const BUILD_CHANNELS = ["lists", "logs", "hosts"] as const;
export type BuildChannel = (typeof BUILD_CHANNELS)[number];
/** Deletions have a channel of their own: they are carried out everywhere. */
export const CHANNELS = [...BUILD_CHANNELS, "deletions"] as const;
export type Channel = (typeof CHANNELS)[number];

/** What a person deletes of an ended build. */
export type Deleted = "build" | "log";

/** A deletion: to be carried out in D1, in the archive and in the log, and remembered after that. */
export interface Deletion {
  buildId: string;
  deleted: Deleted;
  /** Milliseconds since 1970. The end of the build is part of its keys in the archive. */
  finishedAt: number;
  /** Its planned jobs, whose logs have days of their own. */
  jobs?: { id: string; finishedAt: number }[];
  /** Where its artifacts are. */
  artifacts?: ArtifactPlace[];
  /** Where the reports of its tests are. */
  tests?: TestPlace[];
  at: number;
  /** It was carried out at a time after which no late write can undo it; D1 has to hear a sequence since `at`. */
  isSettled?: boolean;
}

/** One change of a decision. All changes of a decision are stored in one transaction. */
export type Change =
  | { kind: "org"; orgId: string }
  /** The highest fence ever granted, once no row of a build under way says it any more. */
  | { kind: "fence"; fence: number }
  | { kind: "build"; build: BuildFacts }
  | { kind: "job"; job: JobFacts }
  /** The jobs of the build are planned: these replace its first. Stored once, with the file's text. */
  | { kind: "graph"; buildId: string; graph: JobGraph; text: string }
  /** What a job that succeeded tells the jobs that need it. */
  | { kind: "outputs"; buildId: string; jobId: string; outputs: Record<string, string> }
  | { kind: "report"; jobId: string; report: Partial<Report>; at: number }
  | { kind: "inputs"; buildId: string; runValues: RunValues; at: number }
  | { kind: "number"; repoId: string; number: number }
  /** The build is deleted whose row said how many were made on this day. */
  | { kind: "day-count"; count: DayCount }
  | { kind: "key"; caller: string; key: string; keyed: KeyedBuild }
  | { kind: "heads"; key: HeadKey; heads: readonly Head[]; at: number }
  | { kind: "delivery"; connectionId: string; deliveryId: string; known: KnownDelivery }
  | { kind: "agent"; agent: AgentFacts }
  | { kind: "agent-removed"; agentId: string }
  /** A token, or the hash of a secret that it had, is no longer valid: what arrives with it later is refused. */
  | { kind: "revoked"; tokenId: string; at: number }
  /** A build of which D1 was told has to be told again. */
  | { kind: "untold"; buildId: string; at: number }
  /** Every channel has delivered the end of the build, so its row no longer counts as an outbox. */
  | { kind: "heard"; buildId: string; endedAt: number }
  /** `variableIds` are those of the values that a hand-out contained. */
  | { kind: "audit"; entry: AuditFact; variableIds?: string[] | undefined }
  /** Entries of the audit (`lists`), or closes of logs. */
  | { kind: "entries-delivered"; channel: BuildChannel; entries: number[] }
  /** `endedAt`: the job has ended too, so that its log can move to the archive. */
  | { kind: "close"; jobId: string; fence: number; at: number; endedAt?: number | undefined }
  | { kind: "deleted"; deletion: Deletion }
  | { kind: "deletions-done"; buildIds: string[] }
  | { kind: "forget"; before: number; revokedBefore: number; headsBefore: number }
  /** The pool changed before D1 was compared with it: its sequence as it was loaded is kept for the comparison. */
  | { kind: "unchecked"; sequence: number }
  | { kind: "compared" }
  /** The highest sequence that D1 has, as far as the pool knows. */
  | { kind: "told"; sequence: number; isInMemory?: boolean }
  /** D1 is told again of the builds that ended, after this one; null: of none. */
  | { kind: "tell-again"; after: number | null; at: number }
  | MemoryChange;

/** Changes of memory only: lost with the object, and then rebuilt or not needed. */
export type MemoryChange =
  | { kind: "contact"; agentId: string; at: number }
  | { kind: "waiter"; agentId: string; waiter: Waiter | null }
  | { kind: "offer"; jobId: string; offer: Offer | null }
  /** A heartbeat renewed the lease of the job, and the stored deadline is recent enough. */
  | { kind: "renewal"; jobId: string; expiresAt: number }
  /** When the agent was last told to stop the job; null: its heartbeat was answered with the stop. */
  | { kind: "stop-told"; jobId: string; at: number | null }
  /** Hand-outs fail for all jobs; null: one succeeded. */
  | { kind: "pause"; pause: Pause | null }
  /** An agent that ignored offers gets offers again. */
  | { kind: "offers-resumed"; agentId: string }
  /** Every unmatched build and agent was checked. */
  | { kind: "matched" }
  /** When the next attempt is due, and how many failed in a row. */
  | { kind: "attempt"; channel: Channel; at: number | null; failures: number }
  /** Who is at the end of the channel has to hear of the build. Its row on disk says so by itself. */
  | { kind: "due"; channel: BuildChannel; buildId: string; at: number }
  /** The channel has delivered the build, and nothing has changed since. An active build remembers what was delivered. */
  | { kind: "delivered"; channel: BuildChannel; buildId: string; known: Pick<BuildFacts, "isTold" | "toldHost"> }
  | { kind: "lease-lost"; cause: LossCause }
  | { kind: "offer-ignored" }
  /** A sweep was answered with all events so far. */
  | { kind: "events-told" }
  /** The fence of a stored job, or the version of a stored build, that is not in memory. */
  | { kind: "granted"; fence: number }
  | { kind: "sequence"; sequence: number }
  /** A deadline of the build, or of one of its gates, has passed. */
  | { kind: "unsettled"; buildId: string }
  /** The object was loaded, and D1 was not compared with it since. */
  | { kind: "loaded" };

export const NO_REPORT: Report = { environment: null, steps: [], summary: null };
