import type { RegisteredBy } from "../../protocol/agent.ts";
import type { AuditAction } from "../../protocol/audit.ts";
import type { BuildReason, Creator, EnvironmentKey, Step } from "../../protocol/build.ts";
import type { BuildStatus, EndedStatus } from "../../protocol/build-states.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { RetryInputs } from "./commands.ts";

/* Times of the pool are milliseconds since 1970. Facts are never changed in place: a change is a new record. */

/** What was asked to be built, and what became of it. */
export interface BuildFacts {
  id: string;
  /** Counts the pool's builds: age in the queue. */
  seq: number;
  /** Counts the repository's builds. */
  number: number;
  repoId: string;
  pipelineId: string | null;
  pipelineVersion: number | null;
  branch: string;
  commitSha: string | null;
  trigger: "api" | "retry";
  priority: number;
  retryOf: string | null;
  /** Absent on builds of before it was noted. */
  createdBy?: Creator | null;
  status: BuildStatus;
  exitCode: number | null;
  reason: BuildReason | null;
  leak: boolean;
  queuedAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  /** Grows with each change a reader can see, so that a late copy elsewhere is known to be late. */
  version: number;
}

/** How it is carried out: who may, who does, how often it was tried. */
export interface JobFacts {
  buildId: string;
  requires: Requires;
  timeoutSeconds: number;
  maxParallel: number | null;
  maxAttempts: number;
  /** Accepted starts, less those given back by `release`. */
  attempt: number;
  /** Leases that ended without a start. */
  unstarted: number;
  /** Agents that gave it back as not for them. */
  releasedBy: string[];
  /** The agent that could not fetch it and is passed over, until the time at which that is looked at again, or null. */
  passedOver?: { agentId: string; until: number | null } | null;
  notBefore: number;
  lease: Lease | null;
  /** Fence and agent of the latest lease, which may be over. */
  fence: number;
  agentId: string | null;
  /** What the agent of the latest lease reported as the end. */
  result: Outcome | null;
  /** Characters of what its run was given; jobs of earlier versions do not say. */
  inputBytes?: number;
}

/** The right of one agent to one build, for a time. The fence tells it from every other lease of the pool. */
export interface Lease {
  fence: number;
  agentId: string;
  expiresAt: number;
  startedAt: number | null;
  /** Set when the agent is to stop: by a person, or because the build takes too long. */
  stop: { reason: "canceled" | "timeout"; at: number } | null;
  /** Already extended once for an outage of ours, and not heard from since. */
  graced: boolean;
}

export interface Outcome {
  status: EndedStatus;
  exitCode: number | null;
  reason: BuildReason | null;
}

/** What readers want to know of a build and the machine never asks: kept out of memory. */
export interface Report {
  environment: EnvironmentKey[] | null;
  steps: Step[];
  summary: string | null;
  message: string | null;
}

export interface AgentFacts {
  id: string;
  name: string;
  platform: number;
  canBuildIOS: boolean;
  canBuildAndroid: boolean;
  canBuildWeb: boolean;
  labels: string[];
  version: string | null;
  isDraining: boolean;
  isEphemeral: boolean;
  tokenHash: string;
  /** Left out in rows of before it was kept. */
  registeredBy?: RegisteredBy | null;
  createdAt: number;
  /** The last sign of life that was written down; a later one may be in memory. */
  heardAt: number;
  bootId: string | null;
  /** Earlier boots: a late message of one of them is no restart. */
  pastBoots: string[];
  /** Builds in a row that it took and did not start, and when the last of them was taken back. */
  ignored: number;
  ignoredAt: number;
  /** When an ephemeral agent's one build was over. */
  spentAt: number | null;
}

/** An agent that waits to be woken: through a poll until its deadline, or through a socket of its own (null). */
export interface Waiter {
  until: number | null;
  /** Hints in a row that it did not follow, and when the last of them was given up. */
  ignored: number;
  ignoredAt: number;
}

/** A waiter was told to look because of this build. */
export interface Offer {
  agentId: string;
  at: number;
}

export interface KeyedBuild {
  buildId: string;
  bodyHash: string;
  at: number;
}

/** What the pool remembers on disk and looks up when asked, at no cost of memory. */
export interface Records {
  /** A build that ended within the last 24 hours. */
  ended(buildId: string): { build: BuildFacts; job: JobFacts } | undefined;
  keyed(caller: string, key: string): KeyedBuild | undefined;
  lastNumber(repoId: string): number;
  lastSeq(): number;
  /** Outbox entries that were not delivered yet. */
  pendingEntries(): number;
}

export interface AuditFact {
  at: number;
  actor: string;
  action: AuditAction;
  subject: string;
  requestId: string | null;
  detail: Record<string, unknown>;
}

/** One thing that a decision changes: all of a decision are stored in one transaction. */
export type Change =
  | { kind: "org"; orgId: string }
  | { kind: "fence"; fence: number }
  | { kind: "build"; build: BuildFacts }
  | { kind: "job"; job: JobFacts }
  | { kind: "report"; buildId: string; report: Partial<Report> }
  | { kind: "inputs"; buildId: string; inputs: RetryInputs; at: number }
  | { kind: "number"; repoId: string; number: number }
  | { kind: "key"; caller: string; key: string; keyed: KeyedBuild }
  | { kind: "agent"; agent: AgentFacts }
  | { kind: "agent-removed"; agentId: string }
  /** A token was revoked with its agents: a registration by it that is still under way comes too late. */
  | { kind: "revoked"; tokenId: string; at: number }
  | { kind: "dirty"; buildId: string; at: number }
  | { kind: "audit"; entry: AuditFact }
  | { kind: "close"; buildId: string; fence: number; at: number }
  | { kind: "clean"; buildId: string }
  | { kind: "delivered"; entries: number[] }
  | { kind: "forget"; before: number }
  | MemoryChange;

/** Changes of memory alone: lost with the object, and found again or not missed. */
export type MemoryChange =
  | { kind: "heard"; agentId: string; at: number }
  | { kind: "waiter"; agentId: string; waiter: Waiter | null }
  | { kind: "offer"; buildId: string; offer: Offer | null }
  /** An agent that ignored offers is to be tried once more. */
  | { kind: "offers-resumed"; agentId: string }
  /** All that had become possible was looked at. */
  | { kind: "matched" }
  | { kind: "flush"; at: number | null; failures: number };

export const NO_REPORT: Report = { environment: null, steps: [], summary: null, message: null };
