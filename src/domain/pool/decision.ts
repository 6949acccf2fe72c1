import type { AuditAction } from "../../protocol/audit.ts";
import type { Hint } from "../../protocol/jobs.ts";
import { DETAILS } from "../../protocol/problem.ts";
import type { JobNode } from "../jobs/node.ts";
import type { Actor, Refusal, Result } from "./commands.ts";
import type { ActiveBuild, AgentFacts, BuildFacts, Change } from "./facts.ts";
import type { Rules } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** What a decision may depend on besides the state. All times are milliseconds. */
export interface DecisionContext {
  now: number;
  /** Time for an agent to start a build that it claimed. */
  startMs: number;
  /** Time for which a started build may run without a heartbeat. */
  leaseMs: number;
  /** Time after which a silent agent is forgotten. */
  agentMs: number;
  /** Time by which a stored deadline may be older than the one that a socket keeps. */
  storedForMs: number;
  /** Builds that may wait for an agent at a time. */
  maxQueued: number;
  /** Builds that may be made on one day (UTC). */
  buildsPerDay: number;
  rules: Rules;
}

/** A hint for an agent. It is sent after the changes are stored. */
export interface Push {
  agentId: string;
  hint: Hint;
}

/** The result of a command: its answer, the changes to store, and the hints to send once they are stored. */
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

export const refused = (kind: Refusal["kind"], detail: string, retryAfterSeconds?: number): Decision<never> => ({
  answer: { ok: false, refusal: { kind, detail, ...(retryAfterSeconds && { retryAfterSeconds }) } },
  changes: [],
  pushes: [],
});

export const unknownId = () => refused("not-found", DETAILS["not-found"]);
export const unknownToken = () => refused("unauthenticated", DETAILS.unauthenticated);
/** Nothing is leased or numbered before D1 was compared with the pool. */
export const notCompared = (): Decision<never> => {
  const detail = "The queue could not be compared with the database yet: repeat the request.";
  return {
    answer: { ok: false, refusal: { kind: "unavailable", detail, retryAfterSeconds: 5 } },
    changes: [],
    pushes: [],
  };
};
export const leaseLost = () => refused("lease-lost", DETAILS["lease-lost"]);

/** What a flush tells: more than each attempt before, so that D1 shows a restore to between two of them. */
export const nextTold = ({ sequence, told, flush }: PoolState): number => Math.max(sequence + flush.failures, told + 1);

/** A sequence above all that D1 was told of, and above what a flush is telling it now. */
export const later = (state: PoolState, now: number): number => Math.max(nextTold(state) + 1, now);

/** The agent, if it is registered and the token is its own. */
export const verifiedAgent = (
  state: PoolState,
  { rules }: DecisionContext,
  { agentId, tokenHash }: { agentId: string; tokenHash: string },
): AgentFacts | undefined => {
  const agent = state.agents.get(agentId);
  return agent && rules.tokenFits(agent, tokenHash) ? agent : undefined;
};

/** The build with its job, unless it has ended. */
export const activeBuild = (state: PoolState, buildId: string): ActiveBuild | undefined => {
  const build = state.builds.get(buildId);
  const job = state.jobs.get(buildId);
  return build && job && { build, job, node: nodeOf(state, build) };
};

const nodeOf = ({ graphs }: PoolState, { id, jobOf }: BuildFacts): JobNode | null =>
  (jobOf && graphs.get(jobOf)?.nodes.get(id)) || null;

/** The active builds, without the single jobs of builds of several. */
export const wholeBuilds = ({ builds }: PoolState): BuildFacts[] => [...builds.values()].filter(({ jobOf }) => !jobOf);

/** A hint about the build, or the job of a build of several. */
export const hintOf = (type: Hint["type"], { id, jobOf }: Pick<BuildFacts, "id" | "jobOf">): Hint =>
  jobOf ? { type, buildId: id, jobId: id } : { type, buildId: id };

/** The build that the agent holds a lease on. */
export const buildHeldBy = (state: PoolState, agentId: string): ActiveBuild | undefined => {
  const buildId = state.index.holding.get(agentId);
  return buildId === undefined ? undefined : activeBuild(state, buildId);
};

/** Changes a build in a way that readers can see: a new version of it, of which D1 hears at the end. */
export const patchBuild = (
  build: BuildFacts,
  patch: Partial<BuildFacts>,
  { rules, now }: DecisionContext,
): Change[] => {
  const next = { ...build, ...patch, version: rules.nextVersion(build.version, now) };
  return [{ kind: "build", build: next }, ...rules.outbox(build, next, now), ...rules.hostOutbox(next, now)];
};

export const audit = (
  { actor, requestId, sender }: Actor,
  action: AuditAction,
  subject: string,
  detail: Record<string, unknown>,
  { rules, now }: DecisionContext,
  variableIds?: string[],
): Change[] => {
  const entry = { at: now, actor, action, subject, requestId, detail: sender ? { ...detail, sender } : detail };
  return rules.audited(variableIds ? { kind: "audit", entry, variableIds } : { kind: "audit", entry });
};
