import type { AuditAction } from "../../protocol/audit.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Hint } from "../../protocol/jobs.ts";
import { DETAILS } from "../../protocol/problem.ts";
import type { Actor, PoolRefusal, Result } from "../commands/commands.ts";
import type { AgentFacts } from "./agent-facts.ts";
import type { BuildFacts, Change, JobEntry, JobFacts } from "./facts.ts";
import type { Rules } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** What a decision may depend on, apart from the state. All times are milliseconds. */
export interface DecisionContext {
  now: number;
  /** Time for an agent to start a claimed job. */
  startMs: number;
  /** Time for which a started job may run without a heartbeat. */
  leaseMs: number;
  /** Time after which the pool forgets a silent agent. */
  agentMs: number;
  /** Time by which a stored deadline may be older than the one that a socket keeps. */
  storedForMs: number;
  /** The most jobs that may wait at a time: for an agent, for other jobs or for a person. */
  maxQueued: number;
  /** The most builds that may be created on one day (UTC). */
  buildsPerDay: number;
  rules: Rules;
}

/** A hint for an agent. It is sent after the changes are stored. */
export interface Push {
  agentId: string;
  hint: Hint;
}

/** A command's result: its answer, the changes to store, and the hints to send after that. */
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
/** Refuses a command until D1 was compared with the pool. Until then, nothing is leased or numbered. */
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
 * Returns the sequence that an attempt writes to D1. It exceeds all earlier ones: D1 then shows a restore between two.
 */
export const nextSequence = ({ sequence, databaseSequence, outbox }: PoolState): number =>
  Math.max(sequence + outbox.lists.failures, databaseSequence + 1);

/** Returns a sequence above all that D1 got, and above the one that an attempt is writing now. */
export const later = (state: PoolState, now: number): number => Math.max(nextSequence(state) + 1, now);

/** Returns the agent if it is registered and the token is its own. */
export const verifiedAgent = (
  state: PoolState,
  { agentId, tokenHash }: { agentId: string; tokenHash: string },
): AgentFacts | undefined => {
  const agent = state.agents.get(agentId);
  return agent?.tokenHash === tokenHash ? agent : undefined;
};

/** Returns the job with its build, while the queue or an agent has it. */
export const findEntry = ({ builds, jobs }: PoolState, jobId: string): JobEntry | undefined => {
  const job = jobs.get(jobId);
  const build = job && builds.get(job.buildId);
  return build && isInQueue(job) ? { build, job } : undefined;
};

/** Reports whether the pool knows a job that nobody has: an ended job, or a first job that planned jobs replaced. */
export const isRemembered = ({ builds, records }: PoolState, jobId: string): boolean =>
  builds.has(jobId) || records.endedJob(jobId) !== undefined || records.ended(jobId) !== undefined;

/** Reports whether the queue or an agent has the job. Such a job neither waits for others nor has ended. */
export const isInQueue = ({ status }: JobFacts): boolean =>
  status === "queued" || status === "assigned" || status === "running" || status === "canceling";

/** Creates a hint about the job. Agents identify a first job by its build alone. */
export const toHint = (type: Hint["type"], { id, buildId }: JobFacts): Hint =>
  id === buildId ? { type, buildId } : { type, buildId: id, jobId: id };

/** Returns the job that the agent holds a lease on. */
export const findLeasedEntry = (state: PoolState, agentId: string): JobEntry | undefined => {
  const jobId = state.index.holding.get(agentId);
  return jobId === undefined ? undefined : findEntry(state, jobId);
};

/** Changes a build in a way that readers can see. This creates a new version. D1 gets it once the build has ended. */
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
