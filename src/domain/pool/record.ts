import { AGENT_STATUS, type Agent } from "../../protocol/agent.ts";
import type { Build } from "../../protocol/build.ts";
import type { JobGate } from "../../protocol/build-job.ts";
import { type Phase, phaseOf } from "../../protocol/build-states.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { refOf, tagOf } from "../git-ref.ts";
import type { Granted } from "./claim.ts";
import type { Grant, RunValues } from "./commands.ts";
import { trustOf } from "./confine.ts";
import type { AgentFacts, BuildFacts, JobFacts, Report } from "./facts.ts";
import { APPROVER, isHeld } from "./held.ts";
import { RULES } from "./rules.ts";
import type { PoolState } from "./state.ts";
import { testSummaryOf } from "./tests.ts";

/** Milliseconds for which an agent counts as online after its last contact. */
export const ONLINE_MS = PERIODS.onlineSeconds * 1000;

const timestamp = (at: number): string => new Date(at).toISOString();
const timestampOf = (at: number | null): string | null => (at === null ? null : timestamp(at));

/** Whether a build names the agent of its latest lease. */
const NAMES_AGENT: Record<Phase, boolean> = { queued: false, leased: true, ended: true };

export const namesAgent = ({ status }: BuildFacts): boolean => NAMES_AGENT[phaseOf(status)];

/** Names from the outside are text wherever the message is shown. */
const whatToApprove = (author: string | null, commitSha: string | null): string =>
  `Commit ${commitSha?.slice(0, 7)}${author === null ? "" : ` by ${author}`} comes from outside the repository. It runs without secrets, on agents for untrusted builds; the approval is for this commit alone.`;

/** Who approved the commit of a stranger, or may do so. */
const approvalOf = ({ approval, origin, commitSha }: BuildFacts): JobGate | null => {
  if (!approval) return null;
  const { since, until, decision } = approval;
  return {
    message: whatToApprove(origin?.pull?.author ?? null, commitSha),
    ...{ by: APPROVER, groups: [], since: timestamp(since), until: timestamp(until) },
    decision: decision && {
      ...{ approved: decision.approved, at: timestamp(decision.at), by: decision.name, comment: decision.comment },
    },
  };
};

/** The build as the API shows it. */
export const toBuild = (orgId: string, build: BuildFacts, job: JobFacts, report: Report): Build => {
  const { id, number, repoId, pipelineId, branch, commitSha, status, trigger, priority, retryOf, leak, origin } = build;
  const approval = approvalOf(build);
  return {
    id,
    number,
    orgId,
    repoId,
    pipelineId,
    branch,
    ref: refOf(branch),
    tag: tagOf(branch),
    commitSha,
    status,
    event: origin?.event ?? "api",
    trigger,
    trust: trustOf(build),
    priority,
    agentId: namesAgent(build) ? job.agentId : null,
    attempt: job.attempt,
    exitCode: build.exitCode,
    reason: build.reason,
    message: build.message ?? null,
    failedLine: build.status === "failed" ? (report.failedLine ?? null) : null,
    jobCounts: null,
    leak,
    environment: report.environment,
    steps: report.steps,
    summary: report.summary,
    retryOf,
    createdBy: build.createdBy ?? null,
    pull: origin?.pull ?? null,
    base: build.base ?? null,
    subject: origin?.commit?.subject ?? null,
    author: origin?.commit?.author ?? null,
    schedule: origin?.schedule ?? null,
    supersededBy: build.supersededBy ?? null,
    jobs: null,
    approval,
    waitsFor: approval && isHeld(build) ? [{ jobId: id, key: "build", gate: approval }] : [],
    tests: build.several ? null : testSummaryOf(build, job),
    queuedAt: timestamp(build.queuedAt),
    startedAt: timestampOf(build.startedAt),
    finishedAt: timestampOf(build.finishedAt),
  };
};

/** What the service gets of a build, or of the job of one, that an agent claimed. */
export const toGrant = (
  orgId: string,
  { buildId, fence, expiresAt, isAgain = false }: Granted,
  { build, job, report }: { build: BuildFacts; job: JobFacts; report: Report },
  leased: JobFacts,
  runValues: RunValues | undefined,
): Grant => ({
  buildId,
  fence,
  isAgain,
  leaseExpiresAt: timestamp(expiresAt),
  build: toBuild(orgId, build, job, report),
  repoId: build.repoId,
  pipelineId: build.pipelineId,
  pipelineVersion: build.pipelineVersion,
  requires: leased.requires,
  timeoutSeconds: leased.timeoutSeconds,
  mayGoElsewhere: RULES.mayGoElsewhere(leased),
  inputs: runValues?.inputs ?? null,
  secretKeys: runValues?.secretKeys ?? [],
  purpose: build.origin?.purpose ?? "build",
  paths: leased.jobOf ? null : (build.origin?.paths ?? null),
});

/** When the agent last made contact. `pingedAt` is the last ping on its socket. */
export const lastHeardAt = (state: PoolState, agent: AgentFacts, pingedAt = 0): number =>
  Math.max(agent.heardAt, state.lastContacts.get(agent.id) ?? 0, pingedAt);

/** Whether the agent made contact recently, or waits in a poll. */
export const isOnline = (state: PoolState, agent: AgentFacts, now: number, pingedAt = 0): boolean => {
  const until = state.waiters.get(agent.id)?.until ?? 0;
  return until > now || now - lastHeardAt(state, agent, pingedAt) < ONLINE_MS;
};

const statusOf = (agent: AgentFacts, isBusy: boolean, online: boolean): number => {
  if (!online) return AGENT_STATUS.offline;
  if (agent.isDraining || agent.spentAt !== null) return AGENT_STATUS.draining;
  return isBusy ? AGENT_STATUS.busy : AGENT_STATUS.idle;
};

/** The agent as the API shows it. The first nine fields keep the order of contract v1, which clients compare. */
export const toAgent = (state: PoolState, orgId: string, agent: AgentFacts, now: number, pingedAt = 0): Agent => {
  const { id, name, platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels, version, isEphemeral } = agent;
  const online = isOnline(state, agent, now, pingedAt);
  const held = state.index.holding.get(id) ?? null;
  const currentBuildId = held && (state.index.buildOfJob.get(held) ?? held);
  return {
    id,
    name,
    platform,
    status: statusOf(agent, currentBuildId !== null, online),
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
