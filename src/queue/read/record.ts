import { refOf, tagOf } from "../../domain/git-ref.ts";
import { AGENT_STATUS, type Agent } from "../../protocol/agent.ts";
import { type Build, toRecord } from "../../protocol/build.ts";
import type { JobGate } from "../../protocol/build-job.ts";
import { phaseOf } from "../../protocol/build-states.ts";
import type { Claim } from "../commands/claim.ts";
import type { ClaimedJob, RunValues } from "../commands/commands.ts";
import { summarizeTests } from "../commands/tests.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import { isOnline, lastHeardAt } from "../state/deadlines.ts";
import type { BuildFacts, JobEntry, JobFacts, Report } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { APPROVER, awaitsApproval, trustOf } from "../state/trust.ts";

const timestamp = (at: number): string => new Date(at).toISOString();
const optionalTimestamp = (at: number | null): string | null => (at === null ? null : timestamp(at));

/** Returns the first job's lease, even after planned jobs replaced the job. */
const firstLease = ({ plannedBy }: BuildFacts, first: JobFacts | undefined) =>
  plannedBy ?? { agentId: first?.agentId ?? null, attempt: first?.attempt ?? 0 };

/** Returns the agent that a build shows. This agent has the latest lease of the build's first job. */
export const latestAgent = (build: BuildFacts, first: JobFacts | undefined): string | null =>
  phaseOf(build.status) === "queued" ? null : firstLease(build, first).agentId;

/** Describes the commit to approve. Names from outside stay plain text wherever the message is shown. */
const whatToApprove = (author: string | null, commitSha: string | null): string =>
  `Commit ${commitSha?.slice(0, 7)}${author === null ? "" : ` by ${author}`} comes from outside the repository. It runs without secrets, on agents for untrusted builds; the approval is for this commit alone.`;

/** Describes the approval of someone else's commit: who approved it, or who may approve it. */
const toApproval = ({ approval, origin, commitSha }: BuildFacts): JobGate | null => {
  if (!approval) return null;
  const { since, until, decision } = approval;
  return {
    message: whatToApprove(origin?.pull?.author ?? null, commitSha),
    by: APPROVER,
    groups: [],
    since: timestamp(since),
    until: timestamp(until),
    decision: decision && {
      approved: decision.approved,
      at: timestamp(decision.at),
      by: decision.name,
      comment: decision.comment,
    },
  };
};

/**
 * Returns the build as the API shows it. Fields that are not set here have their name in the source that `BUILD_FIELDS`
 * names. `first` is the first job, unless planned jobs replaced it.
 */
export const toBuild = (orgId: string, build: BuildFacts, first: JobFacts | undefined, report: Report): Build => {
  const { id, branch, status, origin } = build;
  const approval = toApproval(build);
  return toRecord({
    ...report,
    ...build,
    orgId,
    ref: refOf(branch),
    tag: tagOf(branch),
    event: origin?.event ?? "api",
    trust: trustOf(build),
    agentId: latestAgent(build, first),
    attempt: firstLease(build, first).attempt,
    message: build.message ?? null,
    failedLine: status === "failed" ? report.failedLine : null,
    pull: origin?.pull,
    subject: origin?.commit?.subject,
    author: origin?.commit?.author,
    schedule: origin?.schedule,
    approval,
    waitsFor: approval && awaitsApproval(build) ? [{ jobId: id, key: "build", gate: approval }] : [],
    tests: first && summarizeTests(first),
    queuedAt: timestamp(build.queuedAt),
    startedAt: optionalTimestamp(build.startedAt),
    finishedAt: optionalTimestamp(build.finishedAt),
  });
};

/** Returns a claimed job in the form that the service gets. */
export const toClaimedJob = (
  orgId: string,
  { jobId, fence, expiresAt, isAgain = false }: Claim,
  { build, job, report }: JobEntry & { report: Report },
  runValues: RunValues | undefined,
): ClaimedJob => ({
  jobId,
  fence,
  isAgain,
  leaseExpiresAt: timestamp(expiresAt),
  build: toBuild(orgId, build, job.id === build.id ? job : undefined, report),
  repoId: build.repoId,
  pipelineId: build.pipelineId,
  pipelineVersion: build.pipelineVersion,
  requires: job.requires,
  timeoutSeconds: job.timeoutSeconds,
  mayGoElsewhere: !job.passedOver,
  inputs: runValues?.inputs ?? null,
  secretKeys: runValues?.secretKeys ?? [],
  purpose: build.origin?.purpose ?? "build",
  paths: build.until === null ? (build.origin?.paths ?? null) : null,
});

const judgeStatus = (agent: AgentFacts, isBusy: boolean, online: boolean): number => {
  if (!online) return AGENT_STATUS.offline;
  if (agent.isDraining || agent.spentAt !== null) return AGENT_STATUS.draining;
  return isBusy ? AGENT_STATUS.busy : AGENT_STATUS.idle;
};

/**
 * Returns the agent as the API shows it. The first nine fields keep the order of contract v1, which clients compare.
 */
export const toAgent = (state: PoolState, orgId: string, agent: AgentFacts, now: number, pingedAt = 0): Agent => {
  const { id, name, platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels, version, isEphemeral } = agent;
  const online = isOnline(state, agent, now, pingedAt);
  const currentBuildId = state.jobs.get(state.index.holding.get(id) ?? "")?.buildId ?? null;
  return {
    id,
    name,
    platform,
    status: judgeStatus(agent, currentBuildId !== null, online),
    isOnline: online,
    canBuildIOS,
    canBuildAndroid,
    canBuildWeb,
    lastHeartbeatAt: timestamp(lastHeardAt(state, agent, pingedAt)),
    orgId,
    labels,
    version,
    isDraining: agent.isDraining,
    isEphemeral,
    currentBuildId,
    createdAt: timestamp(agent.createdAt),
    registeredBy: agent.registeredBy ?? null,
    features: agent.features ?? [],
    xcodes: agent.xcodes ?? [],
  };
};
