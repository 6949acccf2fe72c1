import type { AuditAction } from "../../protocol/audit.ts";
import type { Hint } from "../../protocol/jobs.ts";
import { DETAILS } from "../../protocol/problem.ts";
import type { Actor, Refusal, Result } from "./commands.ts";
import type { AgentFacts, BuildFacts, Change, JobFacts } from "./facts.ts";
import type { Rules } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** What a decision may depend on besides the state. Times in milliseconds. */
export interface DecisionContext {
  now: number;
  /** How long a lease may stand unstarted, and how long without a heartbeat. */
  startMs: number;
  leaseMs: number;
  /** How long an agent is kept that nothing is heard of. */
  agentMs: number;
  rules: Rules;
}

export interface Push {
  agentId: string;
  hint: Hint;
}

/** What the pool answers, what becomes different, and whom to nudge once that is stored. */
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

export const refused = (kind: Refusal["kind"], detail: string): Decision<never> => ({
  answer: { ok: false, refusal: { kind, detail } },
  changes: [],
  pushes: [],
});

export const noBuild = () => refused("not-found", DETAILS["not-found"]);
export const noAgent = noBuild;
export const unknownToken = () => refused("unauthenticated", DETAILS.unauthenticated);
export const leaseLost = () => refused("lease-lost", DETAILS["lease-lost"]);

/** The agent that speaks, if it is registered and its token is the one it was given. */
export const verifiedAgent = (
  state: PoolState,
  { rules }: DecisionContext,
  { agentId, tokenHash }: { agentId: string; tokenHash: string },
): AgentFacts | undefined => {
  const agent = state.agents.get(agentId);
  return agent && rules.tokenFits(agent, tokenHash) ? agent : undefined;
};

/** A build with its job, while it is queued or live. */
export const activeBuild = (state: PoolState, buildId: string): { build: BuildFacts; job: JobFacts } | undefined => {
  const build = state.builds.get(buildId);
  const job = state.jobs.get(buildId);
  return build && job && { build, job };
};

/** A build whose readers see something new: the record, and its place in the outbox. */
export const patchBuild = (
  build: BuildFacts,
  patch: Partial<BuildFacts>,
  { rules, now }: DecisionContext,
): Change[] => {
  const next = { ...build, ...patch, version: rules.nextVersion(build.version, now) };
  return [{ kind: "build", build: next }, ...rules.outbox(next, now)];
};

export const audit = (
  { actor, requestId }: Actor,
  action: AuditAction,
  subject: string,
  detail: Record<string, unknown>,
  { rules, now }: DecisionContext,
): Change[] => rules.audited({ kind: "audit", entry: { at: now, actor, action, subject, requestId, detail } });
