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

/** A named set of files that an agent sends under one lease. The files' bytes are in the archive. */
export interface ArtifactFacts extends StoredArtifact {
  /** The archive's id for a multipart upload, until it is complete. */
  uploadId?: string;
  isKept?: boolean;
  /** Whether an upload with the same name and other sizes has begun. */
  isReplaced?: boolean;
}

/* All times are milliseconds since 1970. Facts are immutable: each change stores a new record. */

/**
 * A build's subject and end, with the fields that `BUILD_FIELDS` marks as `of` a request or of facts. Its jobs are
 * leased, run and logged. There is always at least one.
 */
export interface BuildFacts extends BuildPart<"request" | "facts"> {
  /** The sequence number in the pool, which is the build's age in the queue. */
  seq: number;
  pipelineVersion: number | null;
  /** The build's origin; absent if a request created the build. */
  origin?: BuildOrigin | null;
  /** The git host that gets reports about the build; absent if no host gets them. */
  host?: HostTarget | null;
  /** The last state that the pool reported to the git host, as far as a row remembers. */
  toldHost?: ToldState;
  /** The trust in the build's code; absent if the code is the repository's own. */
  trust?: "untrusted";
  /** A person's approval of the build's commit; absent if the commit needs none. */
  approval?: Gated;
  /** The requirements of the build's pipeline and its trigger. The build's file may add to them. */
  requires: Requires;
  /** The maximum number of the pipeline's builds that may be leased at a time; null if there is no limit. */
  maxParallel: number | null;
  maxAttempts: number;
  /** The number of characters of the run's own values, sealed. */
  inputBytes: number;
  /** The lease under which an agent read the build's jobs from its file; absent if no agent read them. */
  plannedBy?: { agentId: string; fence: number; attempt: number };
  /** When the build ends in any case; null until its jobs are planned. */
  until: number | null;
  /** Whether the build counts toward its pipeline's limit, as `JOB_RULES.holdsPlace` decides. */
  holdsPlace: boolean;
  /** When the whole build was canceled. Jobs that clean up may run until `until`. */
  cancel: { at: number; until: number } | null;
  /** Set while only gates delay the build: these gates' jobs, and the state that a git host shows meanwhile. */
  waitsAt?: { jobs: string[]; hostStatus: HostState; asks?: Ask[] } | null;
  /** A text for people about the build's end or its last attempt, if any. */
  message?: string | null;
  /** Whether D1 has the build's creation or, for an ended build, its end, as far as a row remembers. */
  isTold?: boolean;
  /** The number of the organization's builds on its day (UTC), including this one; absent in rows of older releases. */
  ofDay?: number;
  queuedAt: number;
  /** The start, derived from the build's jobs, as are `status` and, until the build ends, `message`. */
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
  /** The job's id, which also names its log. */
  id: string;
  buildId: string;
  /** The job's place among its build's jobs. */
  index: number;
  /** The job's age in the queue; 0 before it was queued. */
  seq: number;
  status: JobStatus;
  /** When the job's needs had ended and its condition held; null before that. */
  queuedAt: number | null;
  startedAt: number | null;
  /** Why the job must stop; absent if it may go on. */
  reason?: StopReason | null;
  /** A text for people about the job's last attempt, if any. */
  message?: string | null;
  /** Whether the job's agent sent a secret that only the service masked. */
  leak?: boolean;
  /** The job's gate; absent if the job has not reached a gate. */
  gate?: Gated | null;
  /** The cause of a stop while the job was leased: a person canceled this job alone, or fail-fast did. */
  stopCause?: JobCause | null;
  /** The job's end; absent until the job has ended. */
  end?: JobEnd | null;
  requires: Requires;
  /** Further features that an agent's program needs, if any. */
  features?: Feature[];
  timeoutSeconds: number;
  maxAttempts: number;
  /** Accepted starts, except those that `release` gave back. */
  attempt: number;
  /** The number of further tries that the file allows after the job's steps failed; absent if it allows none. */
  retry?: number;
  /** The number of failed tries that another try followed; absent before the first such try. */
  retries?: number;
  /** Leases that ended before the agent started the job. They use no attempt, and have their own limit. */
  unstarted: number;
  /** Agents that released the job because they do not meet its requirements. */
  releasedBy: string[];
  /**
   * The agent that could not fetch the job and left it to another agent. It gets the job again when no other agent can
   * take it. `until` is when the pool looks for another agent again, if ever.
   */
  passedOver?: { agentId: string; until: number | null } | null;
  /** The time before which no agent gets the job; 0 if there is no delay. */
  notBefore: number;
  /** The pool's pause, if this job was the last job that the pool tried in the pause and has not started since. */
  pause?: Omit<Pause, "fence"> | undefined;
  lease: JobLease | null;
  /** The fence and the agent of the latest lease, even after the lease's end. */
  fence: number;
  agentId: string | null;
  /** The result that the latest lease's agent reported for the job, or for a try that another try followed. */
  result: Outcome | null;
  /** The job's artifacts from the latest lease that has any. */
  artifacts?: ArtifactFacts[];
  /** The days of all artifacts, including earlier leases' artifacts, because the archive may have bytes there. */
  artifactDays?: string[];
  /** The job's test results from the latest lease that has any. */
  tests?: StoredTests;
  /** The days of all test reports, including earlier leases' reports. */
  testDays?: string[];
}

/** A pause. While a part that every hand-out needs is unavailable, the pool hands out nothing before `until`. */
export interface Pause {
  /** Consecutive hand-outs that failed for this reason. */
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
  /** Set when the agent must stop, because the job was canceled or runs too long. */
  stop: { reason: "timeout" | StopReason; at: number } | null;
  /** Whether the pool extended the lease, once, without a heartbeat, after an outage or the loss of its socket. */
  graced: boolean;
  /** The stored deadline, if heartbeats over the socket have since renewed the lease in memory. */
  writtenUntil?: number;
  /** Set if the agent's heartbeats come over its socket, which has not closed since. */
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

/** A build's fields that readers see and no decision needs. They are only on disk. */
export interface Report extends BuildPart<"report"> {
  /** Whether values to mask arrived after these steps. */
  masksCame?: boolean;
}

/** The destinations of builds: D1 (after the archive), the jobs' logs, and git hosts. */
export const BUILD_CHANNELS = ["lists", "logs", "hosts"] as const;
export type BuildChannel = (typeof BUILD_CHANNELS)[number];
/** All channels. Deletions have their own, because the pool carries them out everywhere. */
export const CHANNELS = [...BUILD_CHANNELS, "deletions"] as const;
export type Channel = (typeof CHANNELS)[number];

/** The part of an ended build that a person deletes. */
export type Deleted = "build" | "log";

/** A deletion. The pool carries it out in D1, the archive and the log, and remembers it after that. */
export interface Deletion {
  buildId: string;
  deleted: Deleted;
  /** The build's end in milliseconds since 1970. It is part of the build's keys in the archive. */
  finishedAt: number;
  /** The build's planned jobs. Their logs have days of their own. */
  jobs?: { id: string; finishedAt: number }[];
  /** The places of the build's artifacts. */
  artifacts?: ArtifactPlace[];
  /** The places of the build's test reports. */
  tests?: TestPlace[];
  at: number;
  /** Whether the pool carried it out after the last possible late write. D1 must still get a sequence since `at`. */
  isSettled?: boolean;
}

/** One change of a decision. The pool stores all changes of a decision in one transaction. */
export type Change =
  | { kind: "org"; orgId: string }
  /** The highest fence that the pool ever granted, once no active build's row contains it. */
  | { kind: "fence"; fence: number }
  | { kind: "build"; build: BuildFacts }
  | { kind: "job"; job: JobFacts }
  /** The build's jobs are planned, and replace its first job. The pool stores this once, with the file's text. */
  | { kind: "graph"; buildId: string; graph: JobGraph; text: string }
  /** A succeeded job's outputs, for the jobs that need this job. */
  | { kind: "outputs"; buildId: string; jobId: string; outputs: Record<string, string> }
  | { kind: "report"; jobId: string; report: Partial<Report>; at: number }
  | { kind: "inputs"; buildId: string; runValues: RunValues; at: number }
  | { kind: "number"; repoId: string; number: number }
  /** The day's count, because the pool deletes the build whose row had it. */
  | { kind: "day-count"; count: DayCount }
  | { kind: "key"; caller: string; key: string; keyed: KeyedBuild }
  | { kind: "heads"; key: HeadKey; heads: readonly Head[]; at: number }
  | { kind: "delivery"; connectionId: string; deliveryId: string; known: KnownDelivery }
  | { kind: "agent"; agent: AgentFacts }
  | { kind: "agent-removed"; agentId: string }
  /** A token, or the hash of its earlier secret, is no longer valid. The pool rejects later requests with it. */
  | { kind: "revoked"; tokenId: string; at: number }
  /** The pool must resend a build that D1 already got. */
  | { kind: "untold"; buildId: string; at: number }
  /** Every channel has delivered the build's end, so its row no longer counts as an outbox. */
  | { kind: "heard"; buildId: string; endedAt: number }
  /** An audit entry. `variableIds` are the ids of the values in a hand-out. */
  | { kind: "audit"; entry: AuditFact; variableIds?: string[] | undefined }
  /** Delivered audit entries (`lists`), or delivered log closes. */
  | { kind: "entries-delivered"; channel: BuildChannel; entries: number[] }
  /** A log to close. `endedAt` means that the job has ended too, so its log can move to the archive. */
  | { kind: "close"; jobId: string; fence: number; at: number; endedAt?: number | undefined }
  | { kind: "deleted"; deletion: Deletion }
  | { kind: "deletions-done"; buildIds: string[] }
  | { kind: "forget"; before: number; revokedBefore: number; headsBefore: number }
  /** The pool changed before its comparison with D1. It keeps its sequence at the load for the comparison. */
  | { kind: "unchecked"; sequence: number }
  | { kind: "compared" }
  /** The highest sequence that D1 has, as far as the pool knows. */
  | { kind: "told"; sequence: number; isInMemory?: boolean }
  /** D1 gets the ended builds after this one again; null if no build remains. */
  | { kind: "tell-again"; after: number | null; at: number }
  | MemoryChange;

/** Changes that are only in memory. They are lost with the object, and then rebuilt or not needed. */
export type MemoryChange =
  | { kind: "contact"; agentId: string; at: number }
  | { kind: "waiter"; agentId: string; waiter: Waiter | null }
  | { kind: "offer"; jobId: string; offer: Offer | null }
  /** A heartbeat renewed the job's lease, and the stored deadline is recent enough. */
  | { kind: "renewal"; jobId: string; expiresAt: number }
  /** When the pool last notified the agent to stop the job; null if a heartbeat's answer contained the stop. */
  | { kind: "stop-told"; jobId: string; at: number | null }
  /** The pause, because hand-outs fail for all jobs; null once a hand-out succeeded. */
  | { kind: "pause"; pause: Pause | null }
  /** An agent that ignored offers gets offers again. */
  | { kind: "offers-resumed"; agentId: string }
  /** The pool has checked every unmatched build and agent. */
  | { kind: "matched" }
  /** When the next attempt is due, and the number of consecutive failures. */
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
