import type { Heartbeat } from "../../protocol/jobs.ts";
import { mergeRequires } from "../requires.ts";
import type { Beat, FinishOf, Holder, ProgressOf, ReleaseOf } from "./commands.ts";
import {
  agentActor,
  audit,
  type Decision,
  decided,
  leaseLost,
  noBuild,
  rebuilt,
  refused,
  type Setting,
  speaker,
  underWay,
  unknownToken,
} from "./decision.ts";
import { giveElsewhere } from "./elsewhere.ts";
import type { BuildFacts, Change, Lease, Outcome, Report } from "./facts.ts";
import { CANCELED, end, type Held, lose, overtimeMessage, requeue, spend } from "./lease.ts";
import { LIMITS } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** The build a caller holds, or why it may not speak about it. */
const heldBy = (state: PoolState, holder: Holder, setting: Setting): Held | Decision<never> => {
  if (!speaker(state, setting, holder)) return unknownToken();
  const held = underWay(state, holder.buildId);
  if (held && setting.rules.holdsLease(held.job, holder.agentId, holder.fence)) return held;
  return held || state.records.ended(holder.buildId) ? leaseLost() : noBuild();
};

const isRefused = (held: Held | Decision<never>): held is Decision<never> => "answer" in held;

/** The agent has the job in its hands: only now is it an attempt, and its heartbeats keep the lease. */
export const start = (state: PoolState, holder: Holder, setting: Setting): Decision<string> => {
  const held = heldBy(state, holder, setting);
  if (isRefused(held)) return held;
  const { build, job } = held;
  const lease = job.lease!;
  if (build.status === "running") return decided(build.id);
  if (!setting.rules.mayStart(build)) return refused("conflict", "The build was canceled: drop it and poll again.");
  const { now, leaseMs } = setting;
  const expiresAt = Math.max(lease.expiresAt, now + leaseMs);
  const started: Lease = { ...lease, startedAt: now, expiresAt, graced: false };
  const attempt = job.attempt + 1;
  const changes: Change[] = [
    ...rebuilt(build, { status: "running", startedAt: now }, setting),
    { kind: "job", job: { ...job, attempt, lease: started } },
    ...audit(agentActor(holder.agentId), "build.start", build.id, { attempt }, setting),
  ];
  const agent = state.agents.get(holder.agentId)!;
  if (agent.ignored > 0) changes.push({ kind: "agent", agent: { ...agent, ignored: 0 } });
  if (job.fence > 0) changes.push({ kind: "report", buildId: build.id, report: { steps: [], summary: null } });
  return decided(build.id, changes);
};

/** Keeps the lease, and tells the agent when it is to stop. */
export const heartbeat = (state: PoolState, beat: Beat, setting: Setting): Decision<Heartbeat> => {
  const { now, leaseMs, rules } = setting;
  const { agentId, fence = null } = beat;
  if (!speaker(state, setting, beat)) return unknownToken();
  if (fence === null) return decided({ cancel: false });
  const buildId = beat.buildId ?? state.index.holding.get(agentId);
  const held = buildId === undefined ? undefined : underWay(state, buildId);
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
export const progress = (state: PoolState, told: ProgressOf, setting: Setting): Decision<null> => {
  const held = heldBy(state, told, setting);
  if (isRefused(held)) return held;
  const { build } = held;
  if (!setting.rules.mayFinish(build)) return refused("conflict", "The build was not started.");
  const report: Partial<Report> = {};
  if (told.steps) report.steps = told.steps;
  if (told.summary !== undefined) report.summary = told.summary;
  const commitSha = commitBuilt(build, told.commitSha);
  if (commitSha === build.commitSha && Object.keys(report).length === 0) return decided(null);
  return decided(null, [{ kind: "report", buildId: build.id, report }, ...rebuilt(build, { commitSha }, setting)]);
};

/**
 * The agent gives the build back: with what its file asks for, which makes it another agent's turn and uses no attempt,
 * or because it is stopped itself, which is a lost attempt.
 */
export const release = (state: PoolState, given: ReleaseOf, setting: Setting): Decision<string> => {
  const held = heldBy(state, given, setting);
  if (isRefused(held)) return held;
  const { build, job } = held;
  const { agentId, reason } = given;
  const actor = agentActor(agentId);
  if (given.interrupted) return decided(build.id, lose(held, state.agents.get(agentId), "stopped", setting));
  if (build.status === "canceling") return decided(build.id, end(held, CANCELED, null, actor, setting));
  if (job.lease?.stop) return decided(build.id, end(held, TIMED_OUT, overtimeMessage(job), actor, setting));
  if (given.elsewhere) return giveElsewhere(state, held, agentId, reason, setting);
  const requires = mergeRequires(job.requires, given.requires ?? {});
  if (!requires || job.releasedBy.length >= LIMITS.releases) {
    return decided(build.id, end(held, UNMET, reason, actor, setting));
  }
  const attempt = job.lease!.startedAt === null ? job.attempt : setting.rules.attemptAfterRelease(job);
  const releasedBy = [...job.releasedBy, agentId];
  return decided(build.id, [
    ...requeue(held, { requires, attempt, releasedBy }, setting),
    { kind: "report", buildId: build.id, report: { message: reason } },
    ...audit(actor, "build.release", build.id, { requires }, setting),
  ]);
};

const UNMET: Outcome = { status: "failed", exitCode: null, reason: "requirements-unmet" };
const TIMED_OUT: Outcome = { status: "failed", exitCode: null, reason: "timeout" };

/** The agent's word on how it ended. The same word again is the same answer; another one is refused. */
export const finish = (state: PoolState, told: FinishOf, setting: Setting): Decision<string> => {
  const { agentId, buildId, fence } = told;
  if (!speaker(state, setting, told)) return unknownToken();
  const reported: Outcome = { status: told.status, exitCode: told.exitCode ?? null, reason: told.reason ?? null };
  const held = underWay(state, buildId);
  if (!held) return finishAgain(state, told, reported, setting);
  const { build, job } = held;
  if (!setting.rules.holdsLease(job, agentId, fence)) return leaseLost();
  if (!setting.rules.mayFinish(build)) return refused("conflict", "The build was not started.");
  const outcome = setting.rules.ending(build, job, reported);
  const isOwnWord = outcome.reason !== "timeout" || told.reason === "timeout";
  const message = (isOwnWord ? told.message : null) ?? (outcome.reason === "timeout" ? overtimeMessage(job) : null);
  const over = { build, job: { ...job, result: reported } };
  return decided(buildId, [
    ...end(over, outcome, message, agentActor(agentId), setting),
    ...spend(state.agents.get(agentId), setting),
  ]);
};

const finishAgain = (state: PoolState, told: FinishOf, reported: Outcome, { rules }: Setting): Decision<string> => {
  const ended = state.records.ended(told.buildId);
  if (!ended) return noBuild();
  const { fence, agentId, result } = ended.job;
  if (!result || fence !== told.fence || agentId !== told.agentId) return leaseLost();
  if (rules.isSameResult(result, reported)) return decided(told.buildId);
  return refused("conflict", "The build has ended with another result, which stands.");
};
