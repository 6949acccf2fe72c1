import type { AuditAction } from "../../protocol/audit.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Hint } from "../../protocol/jobs.ts";
import { DETAILS } from "../../protocol/problem.ts";
import type { Actor, PoolRefusal, Result } from "../commands/commands.ts";
import type { AgentFacts } from "./agent-facts.ts";
import type { BuildFacts, Change, JobEntry, JobFacts } from "./facts.ts";
import type { Rules } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** The facts on which a decision may depend, in addition to the state. All times are milliseconds. */
export interface DecisionContext {
  now: number;
  /** The time within which an agent must start a claimed job. */
  startMs: number;
  /** The time for which a started job may run without a heartbeat. */
  leaseMs: number;
  /** The time after which the pool forgets a silent agent. */
  agentMs: number;
  /** The time by which a stored deadline may be older than the deadline that a socket keeps. */
  storedForMs: number;
  /** The maximum number of jobs that may wait at a time: for an agent, for other jobs or for a person. */
  maxQueued: number;
  /** The maximum number of builds that callers may create on one day (UTC). */
  buildsPerDay: number;
  rules: Rules;
}

/** A hint for an agent. The pool sends it after it has stored the changes. */
export interface Push {
  agentId: string;
  hint: Hint;
}

/** A command's result: its answer, the changes to store, and the hints to send afterwards. */
export interface Decision<T> {
  answer: Result<T>;
  changes: Change[];
  pushes: Push[];
}

export const SYSTEM: Actor = { actor: "system", requestId: null };
export const agentActor = (agentId: string): Actor => ({ actor: `agent:${agentId}`, requestId: null });

export const decided = <T>(value: T, changes: Change[] = [], pushes: Push[] = []): Decision<T> => ({
  answer: { ok: true, value },
  changes,
  pushes,
});

export const refused = (kind: PoolRefusal["kind"], detail: string, retryAfterSeconds?: number): Decision<never> => ({
  answer: { ok: false, refusal: { kind, detail, ...(retryAfterSeconds && { retryAfterSeconds }) } },
  changes: [],
  pushes: [],
});

export const unknownId = () => refused("not-found", DETAILS["not-found"]);
export const unknownToken = () => refused("unauthenticated", DETAILS.unauthenticated);
/** Refuses a command until the pool was compared with D1. Until then, the pool leases no job and numbers no build. */
export const notCompared = (): Decision<never> => {
  const detail = "The queue has not been compared with the database yet: retry the request.";
  return {
    answer: { ok: false, refusal: { kind: "unavailable", detail, retryAfterSeconds: 5 } },
    changes: [],
    pushes: [],
  };
};
export const leaseLost = () => refused("lease-lost", DETAILS["lease-lost"]);

/**
 * Returns the sequence that an attempt writes to D1. It exceeds all earlier sequences, so that D1 shows a restore
 * between two of them.
 */
export const nextSequence = ({ sequence, databaseSequence, outbox }: PoolState): number =>
  Math.max(sequence + outbox.lists.failures, databaseSequence + 1);

/** Returns a sequence above all sequences that D1 got, and above the sequence that an attempt is writing now. */
export const later = (state: PoolState, now: number): number => Math.max(nextSequence(state) + 1, now);

/** Returns the agent if it is registered and the token is the agent's own. */
export const verifiedAgent = (
  state: PoolState,
  { agentId, tokenHash }: { agentId: string; tokenHash: string },
): AgentFacts | undefined => {
  const agent = state.agents.get(agentId);
  return agent?.tokenHash === tokenHash ? agent : undefined;
};

/** Returns the job with its build, while the job is in the queue or an agent has it. */
export const findEntry = ({ builds, jobs }: PoolState, jobId: string): JobEntry | undefined => {
  const job = jobs.get(jobId);
  const build = job && builds.get(job.buildId);
  return build && isInQueue(job) ? { build, job } : undefined;
};

/**
 * Reports whether the pool knows a job that is neither in the queue nor with an agent: an ended job, or a first job
 * that planned jobs replaced.
 */
export const isRemembered = ({ builds, records }: PoolState, jobId: string): boolean =>
  builds.has(jobId) || records.endedJob(jobId) !== undefined || records.ended(jobId) !== undefined;

/** Reports whether the job is in the queue or with an agent. Such a job neither waits for others nor has ended. */
export const isInQueue = ({ status }: JobFacts): boolean =>
  status === "queued" || status === "assigned" || status === "running" || status === "canceling";

/** Creates a hint about the job. Agents identify a first job by its build alone. */
export const toHint = (type: Hint["type"], { id, buildId }: JobFacts): Hint =>
  id === buildId ? { type, buildId } : { type, buildId: id, jobId: id };

/** Returns the job on which the agent holds a lease. */
export const findLeasedEntry = (state: PoolState, agentId: string): JobEntry | undefined => {
  const jobId = state.index.holding.get(agentId);
  return jobId === undefined ? undefined : findEntry(state, jobId);
};

/**
 * Changes a build in a way that readers can see, and creates a new version. D1 gets the version once the build has
 * ended.
 */
export const patchBuild = (
  build: BuildFacts,
  patch: Partial<BuildFacts>,
  { rules, now }: DecisionContext,
): Change[] => {
  const next: BuildFacts = { ...build, ...patch, version: rules.nextVersion(build.version, now) };
  const hasEnded = isEnded(next.status);
  if (hasEnded) next.isTold = false;
  const lists = hasEnded ? [{ kind: "due", channel: "lists", buildId: next.id, at: now } as const] : [];
  return [{ kind: "build", build: next }, ...lists, ...rules.hostOutbox(next, now)];
};

export const audit = (
  { actor, requestId, sender }: Actor,
  action: AuditAction,
  subject: string,
  detail: Record<string, unknown>,
  { now }: DecisionContext,
  variableIds?: string[],
): Change[] => {
  const entry = { at: now, actor, action, subject, requestId, detail: sender ? { ...detail, sender } : detail };
  return [{ kind: "audit", entry, ...(variableIds && { variableIds }) }];
};
