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

/** The reason why the pool rejects a command. */
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
  /** The person for whom the actor speaks, by the login at the git host. */
  sender?: string;
}

/** An audit entry. */
export interface AuditFact {
  at: number;
  actor: string;
  action: AuditAction;
  subject: string;
  requestId: string | null;
  detail: Record<string, unknown>;
}

/** A new build. `requires` combines the requirements of its pipeline and its trigger. */
export interface NewBuild extends BuildPart<"request"> {
  orgId: string;
  pipelineVersion: number | null;
  requires: Requires;
  timeoutSeconds: number;
  maxParallel: number | null;
  maxAttempts: number;
  /** The run's own values, sealed. The pool stores them but cannot open them. */
  inputs: string | null;
  secretKeys: string[];
  origin?: BuildOrigin | null;
  host?: HostTarget | null;
  idempotency: { key: string; caller: string; bodyHash: string } | null;
  /** The trust in the build's code; absent for the repository's own code. */
  trust?: "untrusted" | undefined;
  /** Whether a member must approve the build's commit before the build runs. */
  needsApproval?: boolean | undefined;
  /** The plan, if the build's file is known. Its jobs are then planned, and no agent has to read the file. */
  planned?: NewPlan | null;
  actor: Actor;
}

/** A graph, the text from which it was read, and results of an earlier build's jobs, by this graph's ids. */
export interface NewPlan {
  graph: JobGraph;
  text: string;
  adopted: Record<string, { end: JobEnd; outputs: Record<string, string> }>;
}

/** An earlier build's plan, with the results of its ended jobs. A retry adopts both. */
export interface PlanOfBuild {
  graph: JobGraph;
  text: string;
  jobs: Record<string, { end: JobEnd; outputs: Record<string, string> }>;
}

/** The plan that the first job's agent read in the commit. */
export type PlanRequest = LeaseHolder & { graph: JobGraph; text: string; base: string | null };

/** The first job's agent reports that it read a file with mistakes, or a file that this build may not run. */
export type PlanRefused = LeaseHolder & { reason: Extract<BuildReason, "pipeline-invalid">; message: string };

/**
 * A person's decision on a gate. `id` is the job's id, or the build's id if only one of its gates waits for a decision.
 */
export interface GateRequest {
  /** The id of the job, or of its build. */
  id: string;
  /** The job's place in its build's graph. */
  index?: number;
  approved: boolean;
  comment: string | null;
  role: Role;
  /** The person's name, for people. */
  name: string;
  /** The commit that the person looked at; absent or null if it is unknown. */
  commitSha?: string | null;
  actor: Actor;
}

export interface NewAgent extends AgentRegistration {
  id: string;
  orgId: string;
  /** The SHA-256 of the agent's token, in hexadecimal digits. */
  tokenHash: string;
  registeredBy?: RegisteredBy | null;
  actor: Actor;
}

/** An agent, with the hash of the token that it sent. */
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
  /** The agent program's features; absent if the call does not contain them, as in a heartbeat. */
  features?: Feature[];
  /** The Xcode versions on the agent's machine; absent if the call does not contain them, as in a heartbeat. */
  xcodes?: string[];
  /** A random id that the agent program creates at its start. A new id means a restart. */
  bootId: string | null;
}

/** A job that the pool hands to an agent, without secrets: `inputs` are still sealed. */
export interface ClaimedJob {
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
  /** Whether the agent may release the job so that another agent tries it. */
  mayGoElsewhere: boolean;
  inputs: string | null;
  secretKeys: string[];
  purpose: BuildOrigin["purpose"];
  paths: BuildOrigin["paths"];
  /** The job's plan; absent for a first job. */
  job?: PlannedJob;
}

/** The facts that the service needs to hand out a planned job. */
export interface PlannedJob {
  job: GraphJob;
  attempt: number;
  hash: string;
  path: string | null;
  text: string;
  needs: Needs;
  /** A person's decision, if the job had a gate. */
  decision: GateDecision | null;
}

/** The names of the values that the service is about to send to the agent. */
export interface JobDelivery {
  jobId: string;
  fence: number;
  agentId: string;
  /** The environment's keys. Null means that the agent gets no environment yet, and requests it later. */
  environment: EnvironmentKey[] | null;
  /** The commit that the agent found before it requested the environment. */
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
  /** Whether the log may have been opened for the lease. If it is absent, the log may have been opened. */
  isLogOpen?: boolean;
  /** Whether every hand-out fails now, instead of this one alone; absent if that is unknown. */
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
  /** Whether the heartbeat came over the agent's own socket. */
  bySocket?: boolean;
}

/** A report of the agent, whose texts are already masked. `masksCame` means that new values to mask arrived. */
export type ProgressReport = LeaseHolder &
  Omit<Progress, "masks"> & { masksCame?: boolean; tests?: Omit<StoredTests, "fence"> };
export type ReleaseRequest = LeaseHolder & Release;
/** The agent's result. `failedLine` is the log line that explains the job's failure, masked. */
export type FinishReport = LeaseHolder & Finish & { failedLine?: string | null };

/** The facts that a retry adopts from the original build: the run's sealed values, and its requirements. */
export interface RunValues {
  inputs: string | null;
  secretKeys: string[];
  requires: Requires;
  priority: number;
}

/** A build that a git host's delivery requests. */
export interface RequestedBuild extends NewBuild {
  pipelineId: string;
  commitSha: string;
  origin: BuildOrigin;
  /** Whether the build ends the older builds of its pipeline and ref. */
  supersedes: boolean;
}

/** The effects of a delivery: the builds that it requests, and the refs that it ends. */
export interface DeliveryRequest {
  orgId: string;
  connectionId: string;
  /** The host's own id of the delivery. A repeated delivery gets the same answer. */
  deliveryId: string;
  /** The name of the hook that received the delivery; null if a person redelivers it. */
  hook: string | null;
  builds: RequestedBuild[];
  ended: EndedRef[];
  actor: Actor;
}

/**
 * The outcome for one requested build. The pool created the build, or another delivery had already created the same
 * build, or a newer head replaced the build's head before that head arrived, or the queue rejected the build for this
 * reason.
 */
export interface DeliveredBuild {
  /** The created or existing build, or the build that replaced a late one; otherwise null. */
  buildId: string | null;
  pipelineId: string;
  outcome: "made" | "same" | "late" | "refused";
  reason?: string;
}

export interface DeliveryResult {
  /** The outcomes, in the order of the delivery's requests. */
  builds: DeliveredBuild[];
  /** Ids of the builds that the delivery canceled, or whose cancel it began. */
  canceled: string[];
  /** Whether the pool already knew the delivery, and therefore did nothing. */
  isRepeat: boolean;
}

/** The answer to a git host's delivery, with its time (milliseconds since 1970). */
export interface KnownDelivery {
  arrived: DeliveryResult;
  at: number;
}

/** The build that a request with an idempotency key created. */
export interface KeyedBuild {
  buildId: string;
  bodyHash: string;
  at: number;
}
