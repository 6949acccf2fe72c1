import type { AgentRegistration, RegisteredBy } from "../../protocol/agent.ts";
import type { Build, BuildReason, Creator, EnvironmentKey, Step } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { ProblemKind } from "../../protocol/problem.ts";

export type { AgentChange } from "../../protocol/agent.ts";

/** Why the pool does not do as it was asked. */
export interface Refusal {
  kind: Extract<
    ProblemKind,
    | "unauthenticated"
    | "not-found"
    | "conflict"
    | "in-use"
    | "lease-lost"
    | "limit-reached"
    | "invalid"
    | "idempotency-mismatch"
  >;
  detail: string;
}
export type Result<T> = { ok: true; value: T } | { ok: false; refusal: Refusal };

/** Who asks, for the audit: `token:ID`, `agent:ID`, `operator` or `system`. */
export interface Actor {
  actor: string;
  requestId: string | null;
}

/** A build to be made. `requires` is what pipeline and trigger ask for, already merged. */
export interface NewBuild {
  id: string;
  orgId: string;
  repoId: string;
  pipelineId: string | null;
  pipelineVersion: number | null;
  branch: string;
  commitSha: string | null;
  trigger: Build["trigger"];
  priority: number;
  requires: Requires;
  timeoutSeconds: number;
  maxParallel: number | null;
  maxAttempts: number;
  /** Sealed overrides of the run. The pool keeps them and never looks inside. */
  inputs: string | null;
  secretKeys: string[];
  retryOf: string | null;
  createdBy?: Creator | null;
  idempotency: { key: string; caller: string; bodyHash: string } | null;
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

/** An agent that speaks for itself. */
export interface AgentCaller {
  agentId: string;
  tokenHash: string;
}

/** An agent that speaks about a build it holds a lease on. */
export interface LeaseHolder extends AgentCaller {
  buildId: string;
  fence: number;
}

export interface Claim extends AgentCaller {
  /** Made by the agent program at its start; another one than before means that it was restarted. */
  bootId: string | null;
}

/** A build given to an agent, without any secret: `inputs` are as sealed as they came. */
export interface Grant {
  buildId: string;
  fence: number;
  leaseExpiresAt: string;
  build: Build;
  repoId: string;
  pipelineId: string | null;
  pipelineVersion: number | null;
  requires: Requires;
  timeoutSeconds: number;
  /** Whether it may be given back for another agent to try. */
  mayGoElsewhere: boolean;
  inputs: string | null;
  secretKeys: string[];
}

export interface Delivery {
  buildId: string;
  fence: number;
  agentId: string;
  environment: EnvironmentKey[];
  variableIds?: string[];
  requestId?: string | null;
}

export interface Unclaim {
  buildId: string;
  fence: number;
  /** Milliseconds since 1970 before which nobody is given the build. */
  notBefore: number;
}

export interface FailClaim {
  buildId: string;
  fence: number;
  reason: Extract<BuildReason, "environment">;
  message: string;
}

export interface HeartbeatCall extends Claim {
  buildId?: string | null;
  fence?: number | null;
}

export interface ProgressOf extends LeaseHolder {
  commitSha?: string;
  steps?: Step[];
  summary?: string;
}

export interface ReleaseOf extends LeaseHolder {
  reason: string;
  requires?: Requires;
  /** Only if another agent may have it: else the agent keeps it. */
  elsewhere?: boolean;
  /** The agent was stopped while it worked on it: as if it had been lost, but told at once. */
  interrupted?: boolean;
}

export interface FinishOf extends LeaseHolder {
  status: EndedStatus;
  exitCode?: number | null;
  reason?: BuildReason | null;
  message?: string | null;
}

/** What a retry takes over from the build it repeats. */
export interface RetryInputs {
  inputs: string | null;
  secretKeys: string[];
  requires: Requires;
  priority: number;
}
