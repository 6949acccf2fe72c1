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
  /** The archive's id for a multipart upload, until it is complete. */
  uploadId?: string;
  isKept?: boolean;
  /** An upload with the same name and other sizes has begun. */
  isReplaced?: boolean;
}

/* All times are milliseconds since 1970. Facts are immutable: each change stores a new record. */

/**
 * A build's subject and end, with the fields that `BUILD_FIELDS` marks as `of` a request or of facts. Its jobs are
 * leased, run and logged. There is always at least one.
 */
export interface BuildFacts extends BuildPart<"request" | "facts"> {
  /** Sequence number in the pool: the age in the queue. */
  seq: number;
  pipelineVersion: number | null;
  /** Absent if a request created the build. */
  origin?: BuildOrigin | null;
  /** Absent if no git host gets reports about the build. */
  host?: HostTarget | null;
  /** The last state reported to the git host, as far as a row remembers. */
  toldHost?: ToldState;
  /** Absent if the code is the repository's own. */
  trust?: "untrusted";
  /** A person's approval of its commit. Absent if it needs none. */
  approval?: Gated;
  /** The requirements of its pipeline and its trigger. Its file may add to them. */
  requires: Requires;
  /** The most builds of its pipeline that may be leased at a time. Null: no limit. */
  maxParallel: number | null;
  maxAttempts: number;
  /** Characters of the run's own values, sealed. */
  inputBytes: number;
  /** The lease under which an agent read its jobs from its file. Absent if none did. */
  plannedBy?: { agentId: string; fence: number; attempt: number };
  /** When it ends in any case. Null until its jobs are planned. */
  until: number | null;
  /** From its first lease until none of its jobs is ready or leased. It then counts for its pipeline's build limit. */
  holdsPlace: boolean;
  /** When the whole build was canceled. Jobs that clean up may run until `until`. */
  cancel: { at: number; until: number } | null;
  /** Set while the build waits only for gates: the jobs with these gates, and what a git host shows meanwhile. */
  waitsAt?: { jobs: string[]; hostStatus: HostState; asks?: Ask[] } | null;
  /** A text for people about its end or its last attempt, if any. */
  message?: string | null;
  /** Whether D1 has the build's creation or, for an ended build, its end, as far as a row remembers. */
  isTold?: boolean;
  /** The number of its organization's builds on its day (UTC), including this one. Absent in rows of older releases. */
  ofDay?: number;
  queuedAt: number;
  /** Derived from its jobs, like `status` and, until it ends, `message`. */
  startedAt: number | null;
  finishedAt: number | null;
  /** Increases with each change that readers can see, so that D1 ignores a late write. */
  version: number;
}

/** The wait for a person: its start, its deadline, and the decision. */
export interface Gated {
  since: number;
  until: number;
  decision: GateDecision | null;
}

/**
 * The unit that is leased, run and logged. A build begins with one job, its first, which has the build's id. If its
 * file has jobs, these planned jobs replace the first one.
 */
export interface JobFacts {
  /** Also names its log. */
  id: string;
  buildId: string;
  /** Its place among its build's jobs. */
  index: number;
  /** Its age in the queue. 0 before it was queued. */
  seq: number;
  status: JobStatus;
  /** When its needs had ended and its condition held. Null before that. */
  queuedAt: number | null;
  startedAt: number | null;
  /** Why it must stop. Absent if it need not. */
  reason?: StopReason | null;
  /** A text for people about its last attempt, if any. */
  message?: string | null;
  /** Its agent sent a secret that only the service masked. */
  leak?: boolean;
  /** Absent if no gate was reached. */
  gate?: Gated | null;
  /** Why it will have ended: a person canceled this job alone, or fail-fast did, while it was leased. */
  stopCause?: JobCause | null;
  /** Absent until it has ended. */
  end?: JobEnd | null;
  requires: Requires;
  /** Further features that an agent's program needs, if any. */
  features?: Feature[];
  timeoutSeconds: number;
  maxAttempts: number;
  /** Accepted starts, except those that `release` gave back. */
  attempt: number;
  /** Further tries that its file allows after its steps failed. Absent if it allows none. */
  retry?: number;
  /** Failed tries that another try followed. Absent before the first. */
  retries?: number;
  /** Leases that ended before the agent started the job. They use no attempt, and have their own limit. */
  unstarted: number;
  /** Agents that released it because they do not meet its requirements. */
  releasedBy: string[];
  /**
   * The agent that could not fetch the job and left it to another agent. It gets the job again when no other agent can
   * take it. `until`: when the pool looks for another agent again, if ever.
   */
  passedOver?: { agentId: string; until: number | null } | null;
  /** No agent gets it before this time. 0: no delay. */
  notBefore: number;
  /** The pool's pause, if this job was the last one tried in it and has not started since. */
  pause?: Omit<Pause, "fence"> | undefined;
  lease: JobLease | null;
  /** Fence and agent of the latest lease, even after its end. */
  fence: number;
  agentId: string | null;
  /** The result that the latest lease's agent reported: for the job, or for a try that another try follows. */
  result: Outcome | null;
  /** Its artifacts from the latest lease with any. */
  artifacts?: ArtifactFacts[];
  /** The days of all artifacts, also from earlier leases: the archive may have bytes there. */
  artifactDays?: string[];
  /** Its test results from the latest lease with any. */
  tests?: StoredTests;
  /** The days of all test reports, also from earlier leases. */
  testDays?: string[];
}

/** While a part of the service that every hand-out needs is unavailable, nothing is handed out before `until`. */
export interface Pause {
  /** Hand-outs in a row that failed for this reason. */
  failures: number;
  until: number;
  /** The fence of the lease that tries a hand-out, until the try is over. */
  fence: number | null;
}

/** One agent's temporary right to work on one job. The fence is unique in the pool, and increases. */
export interface JobLease {
  fence: number;
  agentId: string;
  expiresAt: number;
  startedAt: number | null;
  /** Set when the agent must stop: the job was canceled, or it runs too long. */
  stop: { reason: "timeout" | StopReason; at: number } | null;
  /** The lease was extended without a heartbeat, after a service outage or the loss of its socket. Only once. */
  graced: boolean;
  /** The stored deadline, if heartbeats over the socket have since renewed the lease in memory. */
  writtenUntil?: number;
  /** The agent's heartbeats come over its socket, which has not closed since. */
  keptBy?: "socket" | null;
}

/** A job in the queue or under a lease, with its build. */
export interface JobEntry {
  build: BuildFacts;
  job: JobFacts;
}

export interface Outcome {
  status: EndedStatus;
  exitCode: number | null;
  reason: BuildReason | null;
}

/** A build's fields that readers see and no decision needs. Kept only on disk. */
export interface Report extends BuildPart<"report"> {
  /** Values to mask arrived after these steps. */
  masksCame?: boolean;
}

/** The destinations of builds: D1, after the archive; the jobs' logs; git hosts. */
export const BUILD_CHANNELS = ["lists", "logs", "hosts"] as const;
export type BuildChannel = (typeof BUILD_CHANNELS)[number];
/** Deletions have their own channel, because they are carried out everywhere. */
export const CHANNELS = [...BUILD_CHANNELS, "deletions"] as const;
export type Channel = (typeof CHANNELS)[number];

/** What a person deletes from an ended build. */
export type Deleted = "build" | "log";

/** A deletion, to be carried out in D1, the archive and the log, and remembered after that. */
export interface Deletion {
  buildId: string;
  deleted: Deleted;
  /** Milliseconds since 1970. The build's end is part of its keys in the archive. */
  finishedAt: number;
  /** Its planned jobs. Their logs have their own days. */
  jobs?: { id: string; finishedAt: number }[];
  /** The places of its artifacts. */
  artifacts?: ArtifactPlace[];
  /** The places of its test reports. */
  tests?: TestPlace[];
  at: number;
  /** It was carried out when no late write could undo it any more. D1 must still get a sequence since `at`. */
  isSettled?: boolean;
}

/** One change of a decision. All changes of a decision are stored in one transaction. */
export type Change =
  | { kind: "org"; orgId: string }
  /** The highest fence ever granted, once no active build's row contains it. */
  | { kind: "fence"; fence: number }
  | { kind: "build"; build: BuildFacts }
  | { kind: "job"; job: JobFacts }
  /** The build's jobs are planned: these replace its first one. Stored once, with the file's text. */
  | { kind: "graph"; buildId: string; graph: JobGraph; text: string }
  /** A succeeded job's outputs, for the jobs that need it. */
  | { kind: "outputs"; buildId: string; jobId: string; outputs: Record<string, string> }
  | { kind: "report"; jobId: string; report: Partial<Report>; at: number }
  | { kind: "inputs"; buildId: string; runValues: RunValues; at: number }
  | { kind: "number"; repoId: string; number: number }
  /** The build whose row had this day's count is deleted. */
  | { kind: "day-count"; count: DayCount }
  | { kind: "key"; caller: string; key: string; keyed: KeyedBuild }
  | { kind: "heads"; key: HeadKey; heads: readonly Head[]; at: number }
  | { kind: "delivery"; connectionId: string; deliveryId: string; known: KnownDelivery }
  | { kind: "agent"; agent: AgentFacts }
  | { kind: "agent-removed"; agentId: string }
  /** A token, or the hash of an earlier secret of it, is no longer valid. The pool rejects later requests with it. */
  | { kind: "revoked"; tokenId: string; at: number }
  /** A build that D1 already got must be sent again. */
  | { kind: "untold"; buildId: string; at: number }
  /** Every channel has delivered the build's end, so its row no longer counts as an outbox. */
  | { kind: "heard"; buildId: string; endedAt: number }
  /** `variableIds` are the ids of the values in a hand-out. */
  | { kind: "audit"; entry: AuditFact; variableIds?: string[] | undefined }
  /** Audit entries (`lists`), or log closes. */
  | { kind: "entries-delivered"; channel: BuildChannel; entries: number[] }
  /** `endedAt`: the job has ended too, so its log can move to the archive. */
  | { kind: "close"; jobId: string; fence: number; at: number; endedAt?: number | undefined }
  | { kind: "deleted"; deletion: Deletion }
  | { kind: "deletions-done"; buildIds: string[] }
  | { kind: "forget"; before: number; revokedBefore: number; headsBefore: number }
  /** The pool changed before it was compared with D1. Its sequence at the load is kept for the comparison. */
  | { kind: "unchecked"; sequence: number }
  | { kind: "compared" }
  /** The highest sequence that D1 has, as far as the pool knows. */
  | { kind: "told"; sequence: number; isInMemory?: boolean }
  /** D1 gets the ended builds after this one again. Null: none. */
  | { kind: "tell-again"; after: number | null; at: number }
  | MemoryChange;

/** Changes in memory only. They are lost with the object, and then rebuilt or not needed. */
export type MemoryChange =
  | { kind: "contact"; agentId: string; at: number }
  | { kind: "waiter"; agentId: string; waiter: Waiter | null }
  | { kind: "offer"; jobId: string; offer: Offer | null }
  /** A heartbeat renewed the job's lease, and the stored deadline is recent enough. */
  | { kind: "renewal"; jobId: string; expiresAt: number }
  /** When the agent was last notified to stop the job. Null: its heartbeat's answer contained the stop. */
  | { kind: "stop-told"; jobId: string; at: number | null }
  /** Hand-outs fail for all jobs. Null: one succeeded. */
  | { kind: "pause"; pause: Pause | null }
  /** An agent that ignored offers gets offers again. */
  | { kind: "offers-resumed"; agentId: string }
  /** Every unmatched build and agent was checked. */
  | { kind: "matched" }
  /** When the next attempt is due, and the number of failures in a row. */
  | { kind: "attempt"; channel: Channel; at: number | null; failures: number }
  /** The channel must deliver the build. The build's row on disk shows this by itself. */
  | { kind: "due"; channel: BuildChannel; buildId: string; at: number }
  /** The channel has delivered the build, which is unchanged since. An active build remembers the delivery. */
  | { kind: "delivered"; channel: BuildChannel; buildId: string; known: Pick<BuildFacts, "isTold" | "toldHost"> }
  | { kind: "lease-lost"; cause: LossCause }
  | { kind: "offer-ignored" }
  /** A sweep's answer contained all events so far. */
  | { kind: "events-told" }
  /** The fence of a stored job, or the version of a stored build, that is not in memory. */
  | { kind: "granted"; fence: number }
  | { kind: "sequence"; sequence: number }
  /** A deadline of the build, or of one of its gates, has passed. */
  | { kind: "unsettled"; buildId: string }
  /** The object was loaded, and has not been compared with D1 since. */
  | { kind: "loaded" };

export const NO_REPORT: Report = { environment: null, steps: [], summary: null };
