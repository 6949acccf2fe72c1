import type { JobCause, JobEnd } from "../../pipeline/graph/job-end.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import type { LossCause } from "../state/counts.ts";
import { type DecisionContext, patchBuild } from "../state/decision.ts";
import type { BuildFacts, Change, JobEntry, JobFacts, Outcome } from "../state/facts.ts";
import { POOL_LIMITS, stopReason } from "../state/rules.ts";
import { summarizeTests } from "./tests.ts";

/** Ends the job with this outcome. What follows for its build is settled next. */
export const endJob = (
  { job }: Pick<JobEntry, "job">,
  { status, exitCode, reason }: Outcome,
  message: string | null,
  context: DecisionContext,
): Change[] => {
  const { startedAt, agentId, attempt, lease, retries, stopCause } = job;
  const cause = status === "canceled" ? (stopCause ?? CANCELED) : null;
  const tests = summarizeTests({ ...job, status });
  const end: JobEnd = {
    status,
    cause,
    exitCode,
    reason,
    message,
    startedAt,
    finishedAt: context.now,
    agentId,
    attempt,
    ...(retries && { retries }),
    ...(tests && { tests }),
    fence: lease?.fence ?? 0,
  };
  return [{ kind: "job", job: { ...job, status, lease: null, pause: undefined, end } }, ...closeForGood(job, context)];
};

const CANCELED: JobCause = { kind: "canceled", job: null, text: null };

/** Ends a job that had to stop: with what its agent says of the end. */
export const endCanceled = (
  entry: JobEntry,
  context: DecisionContext,
  message: string | null = null,
  outcome: Outcome = { status: "canceled", exitCode: null, reason: stopReason(entry.job) },
): Change[] => endJob(entry, outcome, entry.job.message ?? message, context);

/** Puts the job back into the queue. It keeps its age, and so its place. */
export const requeue = (
  { job }: Pick<JobEntry, "job">,
  patch: Partial<JobFacts>,
  context: DecisionContext,
  message = job.message ?? null,
): Change[] => [
  { kind: "job", job: { ...job, ...patch, status: "queued", startedAt: null, message, lease: null } },
  ...closeLog(job, context),
];

/** Queues the job again after a try that failed, where its file gives it another; else null. */
export const anotherTry = (
  entry: JobEntry,
  outcome: Outcome,
  message: string | null,
  context: DecisionContext,
): Change[] | null => {
  const { job } = entry;
  const { rules } = context;
  if (!rules.triesAgain(job, outcome)) return null;
  const code = outcome.exitCode === null ? "" : ` with exit code ${outcome.exitCode}`;
  const sentences = [`Attempt ${job.attempt} failed${code}, and the job is tried again.`, message];
  return requeue(
    entry,
    { retries: (job.retries ?? 0) + 1 },
    context,
    sentences.filter((one) => one !== null).join(" "),
  );
};

/** The time of one try is over. */
export const endOvertime = (entry: JobEntry, context: DecisionContext): Change[] => {
  const message = overtimeMessage(entry.job);
  return anotherTry(entry, TIMED_OUT, message, context) ?? endJob(entry, TIMED_OUT, message, context);
};

/**
 * Closes the log of an ended job that had a lease, now or earlier, so that it moves to the archive. Of the first job of a
 * build, the row of the build says so, which ends with it.
 */
const closeForGood = ({ id, buildId, fence }: JobFacts, { now }: DecisionContext): Change[] => {
  if (fence === 0) return [];
  if (id === buildId) return [{ kind: "due", channel: "logs", buildId, at: now }];
  return [{ kind: "close", jobId: id, fence, at: now, endedAt: now }];
};

/** Closes the log for the lease that is over: nothing more is written under it. */
const closeLog = ({ id, lease }: JobFacts, { now }: DecisionContext): Change[] =>
  lease ? [{ kind: "close", jobId: id, fence: lease.fence, at: now }] : [];

/** Retires an ephemeral agent that has worked on its one job. */
export const retireEphemeral = (agent: AgentFacts | undefined, { now, leaseMs }: DecisionContext): Change[] =>
  agent?.isEphemeral && agent.spentAt === null ? [{ kind: "agent", agent: { ...agent, spentAt: now + leaseMs } }] : [];

const LOSS_CAUSES: Record<LossCause, string> = {
  expired: "sent no heartbeat in time",
  removed: "was removed",
  restarted: "was restarted",
  stopped: "was stopped",
};

/** Ends a lease without a result: the job is retried, or fails when its attempts are used up. */
export const loseLease = (
  entry: JobEntry,
  agent: AgentFacts | undefined,
  cause: LossCause,
  context: DecisionContext,
): Change[] => {
  const { job } = entry;
  const lossChange: Change = { kind: "lease-lost", cause };
  if (job.lease!.startedAt !== null) {
    return [
      lossChange,
      ...retryOrFail(entry, `Its agent ${LOSS_CAUSES[cause]}.`, context),
      ...retireEphemeral(agent, context),
    ];
  }
  const message = `It was handed out ${POOL_LIMITS.unstarted} times, and no agent started it.`;
  const isIgnored = agent && cause === "expired" && job.status === "assigned";
  return [lossChange, ...retryOrFail(entry, message, context), ...(isIgnored ? countIgnoredLease(agent, context) : [])];
};

const countIgnoredLease = (agent: AgentFacts, { now }: DecisionContext): Change[] => [
  { kind: "agent", agent: { ...agent, ignored: agent.ignored + 1, ignoredAt: now } },
];

const retryOrFail = (entry: JobEntry, message: string, context: DecisionContext): Change[] => {
  const { job } = entry;
  const { attempt, retries = 0, maxAttempts } = job;
  const lease = job.lease!;
  if (job.status === "canceling") return endCanceled(entry, context);
  if (lease.stop?.reason === "timeout") return endOvertime(entry, context);
  const isStarted = lease.startedAt !== null;
  const unstarted = job.unstarted + (isStarted ? 0 : 1);
  const mayRetry = isStarted ? attempt - retries < maxAttempts : unstarted < POOL_LIMITS.unstarted;
  const countedEntry = { ...entry, job: { ...job, unstarted } };
  if (!mayRetry) return endJob(countedEntry, AGENT_LOST, message, context);
  // People read this message until the job ends: why there is a next attempt.
  return requeue(countedEntry, {}, context, isStarted ? `Attempt ${job.attempt} was lost. ${message}` : undefined);
};

const TIMED_OUT: Outcome = { status: "failed", exitCode: null, reason: "timeout" };
const AGENT_LOST: Outcome = { status: "failed", exitCode: null, reason: "agent-lost" };

export const overtimeMessage = ({ timeoutSeconds }: JobFacts): string =>
  `It ran for longer than its timeout of ${timeoutSeconds} seconds.`;

/** What an agent found out of a commit: its hash, and that of the commit that changes are counted from. */
interface ReportedCommit {
  commitSha?: string | undefined;
  base?: string | null | undefined;
}

/** The commit to keep for later attempts and retries. An annotated tag has an id of its own: its commit replaces that. */
export const commitBuilt = ({ branch, commitSha }: BuildFacts, reported: string | undefined): string | null =>
  (branch.startsWith("refs/tags/") ? (reported ?? commitSha) : (commitSha ?? reported)) ?? null;

/** Stores what the agent found, where that is news. The commit of a build is settled once its jobs are planned. */
export const commitChanges = ({ build }: JobEntry, commit: ReportedCommit, context: DecisionContext): Change[] => {
  const commitSha = build.until === null ? commitBuilt(build, commit.commitSha) : build.commitSha;
  const base = commit.base ?? build.base ?? null;
  const isKnown = commitSha === build.commitSha && base === (build.base ?? null);
  return isKnown ? [] : patchBuild(build, { commitSha, base }, context);
};
