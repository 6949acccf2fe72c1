import type { Heartbeat } from "../../protocol/jobs.ts";
import { mergeRequires } from "../requires.ts";
import type { FinishOf, HeartbeatCall, LeaseHolder, ProgressOf, ReleaseOf } from "./commands.ts";
import {
  activeBuild,
  agentActor,
  audit,
  type Decision,
  type DecisionContext,
  decided,
  leaseLost,
  noBuild,
  patchBuild,
  refused,
  unknownToken,
  verifiedAgent,
} from "./decision.ts";
import { releaseElsewhere } from "./elsewhere.ts";
import type { BuildFacts, Change, Lease, Outcome, Report } from "./facts.ts";
import { type ActiveBuild, CANCELED, endBuild, loseLease, overtimeMessage, requeue, retireEphemeral } from "./lease.ts";
import { POOL_LIMITS } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** The build a caller holds, or why it may not speak about it. */
const buildOfCaller = (
  state: PoolState,
  holder: LeaseHolder,
  context: DecisionContext,
): ActiveBuild | Decision<never> => {
  if (!verifiedAgent(state, context, holder)) return unknownToken();
  const held = activeBuild(state, holder.buildId);
  if (held && context.rules.holdsLease(held.job, holder.agentId, holder.fence)) return held;
  return held || state.records.ended(holder.buildId) ? leaseLost() : noBuild();
};

const isRefused = (held: ActiveBuild | Decision<never>): held is Decision<never> => "answer" in held;

/** The agent has the job in its hands: only now is it an attempt, and its heartbeats keep the lease. */
export const start = (state: PoolState, holder: LeaseHolder, context: DecisionContext): Decision<string> => {
  const held = buildOfCaller(state, holder, context);
  if (isRefused(held)) return held;
  const { build, job } = held;
  const lease = job.lease!;
  if (build.status === "running") return decided(build.id);
  if (!context.rules.mayStart(build)) return refused("conflict", "The build was canceled: drop it and poll again.");
  const { now, leaseMs } = context;
  const expiresAt = Math.max(lease.expiresAt, now + leaseMs);
  const started: Lease = { ...lease, startedAt: now, expiresAt, graced: false };
  const attempt = job.attempt + 1;
  const changes: Change[] = [
    ...patchBuild(build, { status: "running", startedAt: now }, context),
    { kind: "job", job: { ...job, attempt, lease: started } },
    ...audit(agentActor(holder.agentId), "build.start", build.id, { attempt }, context),
  ];
  const agent = state.agents.get(holder.agentId)!;
  if (agent.ignored > 0) changes.push({ kind: "agent", agent: { ...agent, ignored: 0 } });
  if (job.fence > 0) changes.push({ kind: "report", buildId: build.id, report: { steps: [], summary: null } });
  return decided(build.id, changes);
};

/** Keeps the lease, and tells the agent when it is to stop. */
export const heartbeat = (state: PoolState, beat: HeartbeatCall, context: DecisionContext): Decision<Heartbeat> => {
  const { now, leaseMs, rules } = context;
  const { agentId, fence = null } = beat;
  if (!verifiedAgent(state, context, beat)) return unknownToken();
  if (fence === null) return decided({ cancel: false });
  const buildId = beat.buildId ?? state.index.holding.get(agentId);
  const held = buildId === undefined ? undefined : activeBuild(state, buildId);
  if (!held || !rules.holdsLease(held.job, agentId, fence)) return decided({ cancel: true, reason: "lease-lost" });
  const { job } = held;
  const lease = job.lease!;
  const expiresAt = lease.startedAt === null ? lease.expiresAt : rules.extended(lease, now, leaseMs);
  const leaseExpiresAt = new Date(expiresAt).toISOString();
  const changes: Change[] =
    expiresAt === lease.expiresAt && !lease.graced
      ? []
      : [{ kind: "job", job: { ...job, lease: { ...lease, expiresAt, graced: false } } }];
  if (!lease.stop) return decided({ cancel: false, leaseExpiresAt }, changes);
  return decided({ cancel: true, reason: lease.stop.reason, leaseExpiresAt }, changes);
};

/** A tag's own object may have been asked for: what is built, and kept for later attempts and retries, is its commit. */
const commitBuilt = ({ branch, commitSha }: BuildFacts, told: string | undefined): string | null =>
  (branch.startsWith("refs/tags/") ? (told ?? commitSha) : (commitSha ?? told)) ?? null;

/** What the agent found out. A commit it found for a branch is kept for later attempts and retries. */
export const progress = (state: PoolState, told: ProgressOf, context: DecisionContext): Decision<null> => {
  const held = buildOfCaller(state, told, context);
  if (isRefused(held)) return held;
  const { build } = held;
  if (!context.rules.mayFinish(build)) return refused("conflict", "The build was not started.");
  const report: Partial<Report> = {};
  if (told.steps) report.steps = told.steps;
  if (told.summary !== undefined) report.summary = told.summary;
  const commitSha = commitBuilt(build, told.commitSha);
  if (commitSha === build.commitSha && Object.keys(report).length === 0) return decided(null);
  return decided(null, [{ kind: "report", buildId: build.id, report }, ...patchBuild(build, { commitSha }, context)]);
};

/**
 * The agent gives the build back: with what its file asks for, which makes it another agent's turn and uses no attempt,
 * or because it is stopped itself, which is a lost attempt.
 */
export const release = (state: PoolState, given: ReleaseOf, context: DecisionContext): Decision<string> => {
  const held = buildOfCaller(state, given, context);
  if (isRefused(held)) return held;
  const { build, job } = held;
  const { agentId, reason } = given;
  const actor = agentActor(agentId);
  if (given.interrupted) return decided(build.id, loseLease(held, state.agents.get(agentId), "stopped", context));
  if (build.status === "canceling") return decided(build.id, endBuild(held, CANCELED, null, actor, context));
  if (job.lease?.stop) return decided(build.id, endBuild(held, TIMED_OUT, overtimeMessage(job), actor, context));
  if (given.elsewhere) return releaseElsewhere(state, held, agentId, reason, context);
  const requires = mergeRequires(job.requires, given.requires ?? {});
  if (!requires || job.releasedBy.length >= POOL_LIMITS.releases) {
    return decided(build.id, endBuild(held, UNMET, reason, actor, context));
  }
  const attempt = job.lease!.startedAt === null ? job.attempt : context.rules.attemptAfterRelease(job);
  const releasedBy = [...job.releasedBy, agentId];
  return decided(build.id, [
    ...requeue(held, { requires, attempt, releasedBy }, context),
    { kind: "report", buildId: build.id, report: { message: reason } },
    ...audit(actor, "build.release", build.id, { requires }, context),
  ]);
};

const UNMET: Outcome = { status: "failed", exitCode: null, reason: "requirements-unmet" };
const TIMED_OUT: Outcome = { status: "failed", exitCode: null, reason: "timeout" };

/** The agent's word on how it ended. The same word again is the same answer; another one is refused. */
export const finish = (state: PoolState, told: FinishOf, context: DecisionContext): Decision<string> => {
  const { agentId, buildId, fence } = told;
  if (!verifiedAgent(state, context, told)) return unknownToken();
  const reported: Outcome = { status: told.status, exitCode: told.exitCode ?? null, reason: told.reason ?? null };
  const held = activeBuild(state, buildId);
  if (!held) return finishAgain(state, told, reported, context);
  const { build, job } = held;
  if (!context.rules.holdsLease(job, agentId, fence)) return leaseLost();
  if (!context.rules.mayFinish(build)) return refused("conflict", "The build was not started.");
  const outcome = context.rules.ending(build, job, reported);
  const isOwnWord = outcome.reason !== "timeout" || told.reason === "timeout";
  const message = (isOwnWord ? told.message : null) ?? (outcome.reason === "timeout" ? overtimeMessage(job) : null);
  const over = { build, job: { ...job, result: reported } };
  return decided(buildId, [
    ...endBuild(over, outcome, message, agentActor(agentId), context),
    ...retireEphemeral(state.agents.get(agentId), context),
  ]);
};

const finishAgain = (
  state: PoolState,
  told: FinishOf,
  reported: Outcome,
  { rules }: DecisionContext,
): Decision<string> => {
  const ended = state.records.ended(told.buildId);
  if (!ended) return noBuild();
  const { fence, agentId, result } = ended.job;
  if (!result || fence !== told.fence || agentId !== told.agentId) return leaseLost();
  if (rules.isSameResult(result, reported)) return decided(told.buildId);
  return refused("conflict", "The build has ended with another result, which stands.");
};
