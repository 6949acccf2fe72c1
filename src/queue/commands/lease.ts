import type { JobCause, JobEnd } from "../../pipeline/graph/job-end.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import type { LossCause } from "../state/counts.ts";
import { type DecisionContext, patchBuild } from "../state/decision.ts";
import type { BuildFacts, Change, JobEntry, JobFacts, Outcome } from "../state/facts.ts";
import { POOL_LIMITS, stopReason } from "../state/rules.ts";
import { summarizeTests } from "./tests.ts";

/** Ends the job with this outcome. The pool settles its build next. */
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

/** Ends a job that had to stop, once its agent reports the end. */
export const endCanceled = (
  entry: JobEntry,
  context: DecisionContext,
  message: string | null = null,
  outcome: Outcome = { status: "canceled", exitCode: null, reason: stopReason(entry.job) },
): Change[] => endJob(entry, outcome, entry.job.message ?? message, context);

/** Returns the job to the queue. The job keeps its age, and therefore its place. */
export const requeue = (
  { job }: Pick<JobEntry, "job">,
  patch: Partial<JobFacts>,
  context: DecisionContext,
  message = job.message ?? null,
): Change[] => [
  { kind: "job", job: { ...job, ...patch, status: "queued", startedAt: null, message, lease: null } },
  ...closeLog(job, context),
];

/** Queues the job again after a failed try if its file allows another try. Otherwise returns null. */
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
  const sentences = [`Attempt ${job.attempt} failed${code}: retrying the job.`, message];
  return requeue(
    entry,
    { retries: (job.retries ?? 0) + 1 },
    context,
    sentences.filter((one) => one !== null).join(" "),
  );
};

/** Ends a try whose time is over. */
export const endOvertime = (entry: JobEntry, context: DecisionContext): Change[] => {
  const message = overtimeMessage(entry.job);
  return anotherTry(entry, TIMED_OUT, message, context) ?? endJob(entry, TIMED_OUT, message, context);
};

/**
 * Closes the log of an ended job that has or had a lease, so that the log moves to the archive. For a build's first
 * job, the build's row shows this, because the build ends with this job.
 */
const closeForGood = ({ id, buildId, fence }: JobFacts, { now }: DecisionContext): Change[] => {
  if (fence === 0) return [];
  if (id === buildId) return [{ kind: "due", channel: "logs", buildId, at: now }];
  return [{ kind: "close", jobId: id, fence, at: now, endedAt: now }];
};

/** Closes the log for the ended lease, so that nobody writes to it under this lease any more. */
const closeLog = ({ id, lease }: JobFacts, { now }: DecisionContext): Change[] =>
  lease ? [{ kind: "close", jobId: id, fence: lease.fence, at: now }] : [];

/** Retires an ephemeral agent after its one job. */
export const retireEphemeral = (agent: AgentFacts | undefined, { now, leaseMs }: DecisionContext): Change[] =>
  agent?.isEphemeral && agent.spentAt === null ? [{ kind: "agent", agent: { ...agent, spentAt: now + leaseMs } }] : [];

const LOSS_CAUSES: Record<LossCause, string> = {
  expired: "sent no heartbeat in time",
  removed: "was removed",
  restarted: "was restarted",
  stopped: "was stopped",
};

/** Ends a lease without a result. The pool retries the job, or fails it if it has no attempts left. */
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
  const message = `It was handed out ${POOL_LIMITS.unstarted} times, but no agent started it.`;
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
  // Until the job ends, this message shows people why the job has a next attempt.
  return requeue(countedEntry, {}, context, isStarted ? `Attempt ${job.attempt} was lost. ${message}` : undefined);
};

const TIMED_OUT: Outcome = { status: "failed", exitCode: null, reason: "timeout" };
const AGENT_LOST: Outcome = { status: "failed", exitCode: null, reason: "agent-lost" };

export const overtimeMessage = ({ timeoutSeconds }: JobFacts): string =>
  `It ran for longer than its timeout of ${timeoutSeconds} seconds.`;

/**
 * An agent's findings about a commit: the commit's hash, and the hash of the commit with which it compared the changes.
 */
interface ReportedCommit {
  commitSha?: string | undefined;
  base?: string | null | undefined;
}

/**
 * Returns the commit to keep for later attempts and retries. For an annotated tag, this is the tag's commit instead of
 * its own id.
 */
export const commitBuilt = ({ branch, commitSha }: BuildFacts, reported: string | undefined): string | null =>
  (branch.startsWith("refs/tags/") ? (reported ?? commitSha) : (commitSha ?? reported)) ?? null;

/** Stores the agent's findings if they are new. A build's commit is final once the build's jobs are planned. */
export const commitChanges = ({ build }: JobEntry, commit: ReportedCommit, context: DecisionContext): Change[] => {
  const commitSha = build.until === null ? commitBuilt(build, commit.commitSha) : build.commitSha;
  const base = commit.base ?? build.base ?? null;
  const isKnown = commitSha === build.commitSha && base === (build.base ?? null);
  return isKnown ? [] : patchBuild(build, { commitSha, base }, context);
};
