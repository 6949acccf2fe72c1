import type { BuildOrigin, HostTarget } from "../../githosts/core/build-origin.ts";
import type { EndedRef } from "../../githosts/core/effect-facts.ts";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { GateDecision, JobEnd } from "../../pipeline/graph/job-end.ts";
import type { AgentRegistration, RegisteredBy } from "../../protocol/agent.ts";
import type { AuditAction } from "../../protocol/audit.ts";
import type { Build, BuildPart, BuildReason, EnvironmentKey, Step } from "../../protocol/build.ts";
import type { Feature, Finish, Needs, Progress, Release } from "../../protocol/jobs.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { ProblemKind } from "../../protocol/problem.ts";
import type { StoredTests } from "../../protocol/test-report.ts";
import type { Role } from "../../protocol/token.ts";

/** Why the pool refuses a command. */
export interface PoolRefusal {
  kind: Extract<
    ProblemKind,
    | "unauthenticated"
    | "forbidden"
    | "not-found"
    | "conflict"
    | "lease-lost"
    | "limit-reached"
    | "idempotency-mismatch"
    | "unavailable"
  >;
  detail: string;
  retryAfterSeconds?: number;
}
export type Result<T> = { ok: true; value: T } | { ok: false; refusal: PoolRefusal };

/** The caller, for the audit: `token:ID`, `agent:ID`, `connection:ID`, `operator` or `system`. */
export interface Actor {
  actor: string;
  requestId: string | null;
  /** The login of the person at the git host for whom the actor speaks. */
  sender?: string;
}

/** An entry of the audit. */
export interface AuditFact {
  at: number;
  actor: string;
  action: AuditAction;
  subject: string;
  requestId: string | null;
  detail: Record<string, unknown>;
}

/** A new build. `requires` merges the requirements of its pipeline and its trigger. */
export interface NewBuild extends BuildPart<"request"> {
  orgId: string;
  pipelineVersion: number | null;
  requires: Requires;
  timeoutSeconds: number;
  maxParallel: number | null;
  maxAttempts: number;
  /** The run's own values, sealed. The pool stores them and cannot open them. */
  inputs: string | null;
  secretKeys: string[];
  origin?: BuildOrigin | null;
  host?: HostTarget | null;
  idempotency: { key: string; caller: string; bodyHash: string } | null;
  /** Absent where the code is that of the repository. */
  trust?: "untrusted" | undefined;
  /** Whether nobody runs it before a member has approved its commit. */
  needsApproval?: boolean | undefined;
  /** Of a build whose file is known: its jobs are planned, and no agent has to read it. */
  planned?: NewPlan | null;
  actor: Actor;
}

/** A graph, the text that it was read from, and results that an earlier build's jobs had, by the ids of this graph. */
export interface NewPlan {
  graph: JobGraph;
  text: string;
  adopted: Record<string, { end: JobEnd; outputs: Record<string, string> }>;
}

/** What a retry takes over of a build whose jobs were planned: its plan, and what its ended jobs gave. */
export interface PlanOfBuild {
  graph: JobGraph;
  text: string;
  jobs: Record<string, { end: JobEnd; outputs: Record<string, string> }>;
}

/** What the agent of the first job read in the commit. */
export type PlanRequest = LeaseHolder & { graph: JobGraph; text: string; base: string | null };

/** The agent of the first job read a file with mistakes, or one that this build may not run. */
export type PlanRefused = LeaseHolder & { reason: Extract<BuildReason, "pipeline-invalid">; message: string };

/** A person decides on a gate. `id` is that of the job, or of a build in which one gate asks. */
export interface GateRequest {
  /** Of the job, or of its build. */
  id: string;
  /** The place of the job in the graph of the build. */
  index?: number;
  approved: boolean;
  comment: string | null;
  role: Role;
  /** Who it is, for people. */
  name: string;
  /** The commit that was looked at; absent or null where nobody says. */
  commitSha?: string | null;
  actor: Actor;
}

export interface NewAgent extends AgentRegistration {
  id: string;
  orgId: string;
  /** SHA-256 of the agent's token, in hexadecimal digits. */
  tokenHash: string;
  registeredBy?: RegisteredBy | null;
  actor: Actor;
}

/** An agent with the hash of the token that it sent. */
interface AgentCaller {
  agentId: string;
  tokenHash: string;
}

/** An agent that names the lease under which it works on a job. */
export interface LeaseHolder extends AgentCaller {
  jobId: string;
  fence: number;
}

export interface ClaimRequest extends AgentCaller {
  /** What the agent program can do; absent where the call does not say it, as a heartbeat. */
  features?: Feature[];
  /** Versions of Xcode on its machine; absent in the same way. */
  xcodes?: string[];
  /** Random id that the agent program makes at its start: a new one means that it was restarted. */
  bootId: string | null;
}

/** A job handed to an agent, without secrets: `inputs` are still sealed. */
export interface ClaimedJob {
  /** The job that was claimed. */
  jobId: string;
  fence: number;
  /** Whether the agent got the same lease before. */
  isAgain: boolean;
  leaseExpiresAt: string;
  build: Build;
  repoId: string;
  pipelineId: string | null;
  pipelineVersion: number | null;
  requires: Requires;
  timeoutSeconds: number;
  /** Whether the agent may release it for another agent to try. */
  mayGoElsewhere: boolean;
  inputs: string | null;
  secretKeys: string[];
  purpose: BuildOrigin["purpose"];
  paths: BuildOrigin["paths"];
  /** What was planned of the job. Absent for a first job. */
  job?: PlannedJob;
}

/** What the service needs to hand out a planned job. */
export interface PlannedJob {
  job: GraphJob;
  attempt: number;
  hash: string;
  path: string | null;
  text: string;
  needs: Needs;
  /** What a person decided, where a gate asked. */
  decision: GateDecision | null;
}

/** What the service is about to send to the agent, by names. */
export interface JobDelivery {
  jobId: string;
  fence: number;
  agentId: string;
  /** Null: nothing of it is handed out yet, the agent will ask for it. */
  environment: EnvironmentKey[] | null;
  /** What the agent found out before it asked for the environment. */
  commitSha?: string;
  base?: string;
  steps?: Step[] | undefined;
  variableIds?: string[];
  requestId?: string | null;
}

export interface Unclaim {
  jobId: string;
  fence: number;
  /** Milliseconds since 1970 before which no agent gets the job. */
  notBefore: number;
  /** Whether the log may have been opened for the lease: it may where nothing says so. */
  isLogOpen?: boolean;
  /** Whether every hand-out fails now, and not this one alone: absent where nobody knows. */
  isAway?: boolean;
}

export interface FailClaim {
  jobId: string;
  fence: number;
  reason: Extract<BuildReason, "environment">;
  message: string;
}

export interface HeartbeatRequest extends ClaimRequest {
  jobId?: string | null;
  fence?: number | null;
  /** Whether it came over the agent's own socket. */
  bySocket?: boolean;
}

/** `masksCame`: there are new values to mask. The texts are masked already. */
export type ProgressReport = LeaseHolder &
  Omit<Progress, "masks"> & { masksCame?: boolean; tests?: Omit<StoredTests, "fence"> };
export type ReleaseRequest = LeaseHolder & Release;
/** `failedLine`: the line of the log that says why the job failed, masked. */
export type FinishReport = LeaseHolder & Finish & { failedLine?: string | null };

/** What a retry takes over from the build that it repeats: the run's values, sealed, and what it required. */
export interface RunValues {
  inputs: string | null;
  secretKeys: string[];
  requires: Requires;
  priority: number;
}

/** A build that a delivery of a git host asks for. */
export interface RequestedBuild extends NewBuild {
  pipelineId: string;
  commitSha: string;
  origin: BuildOrigin;
  /** Whether it ends the older builds of its pipeline and ref. */
  supersedes: boolean;
}

/** What came of a delivery: the builds that it asks for, and the refs that it ends. */
export interface DeliveryRequest {
  orgId: string;
  connectionId: string;
  /** The host's own id of the delivery. Repeats of it get the same answer. */
  deliveryId: string;
  /** The name of the hook that it came to; null where a person takes it once more. */
  hook: string | null;
  builds: RequestedBuild[];
  ended: EndedRef[];
  actor: Actor;
}

/**
 * What became of one build: it was made; another delivery had made the same one; its head was replaced before it
 * arrived; or the queue refused it, for this reason.
 */
export interface DeliveredBuild {
  /** Of the build that was made or is the same, or that took the place of a late one; null where there is none. */
  buildId: string | null;
  pipelineId: string;
  outcome: "made" | "same" | "late" | "refused";
  reason?: string;
}

export interface DeliveryResult {
  /** In the order in which the delivery asked for them. */
  builds: DeliveredBuild[];
  /** Ids of the builds that were canceled, or are being canceled. */
  canceled: string[];
  /** Whether the pool knew the delivery, and did nothing. */
  isRepeat: boolean;
}

/** What was answered to a delivery of a git host, and when (milliseconds since 1970). */
export interface KnownDelivery {
  arrived: DeliveryResult;
  at: number;
}

/** The build that a request with an idempotency key made. */
export interface KeyedBuild {
  buildId: string;
  bodyHash: string;
  at: number;
}
