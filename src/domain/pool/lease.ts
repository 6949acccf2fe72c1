import type { JobCause } from "../jobs/node.ts";
import { type DecisionContext, patchBuild } from "./decision.ts";
import type { LossCause } from "./events.ts";
import type { ActiveBuild, AgentFacts, Change, JobFacts, Outcome } from "./facts.ts";
import { cancelReason, POOL_LIMITS } from "./rules.ts";
import { testSummaryOf } from "./tests.ts";

/** Ends the build, or the job of a build of several, with this outcome. */
export const endBuild = (
  held: ActiveBuild,
  outcome: Outcome,
  message: string | null,
  context: DecisionContext,
): Change[] => [
  ...patchBuild(held.build, { ...outcome, message, finishedAt: context.now }, context),
  { kind: "job", job: { ...held.job, lease: null } },
  ...endNode(held, outcome, message, context),
  ...closeForGood(held.job, context),
];

/** What became of the job, for its build of several. */
const endNode = (
  { build, job, node }: ActiveBuild,
  outcome: Outcome,
  message: string | null,
  { now }: DecisionContext,
): Change[] => {
  if (!node) return [];
  const { startedAt } = build;
  const { agentId, attempt, lease } = job;
  const cause = outcome.status === "canceled" ? (node.stopCause ?? CANCELED) : null;
  const fence = lease?.fence ?? 0;
  const tests = testSummaryOf(outcome, job);
  const told = { ...(job.retries && { retries: job.retries }), ...(tests && { tests }) };
  const end = { ...outcome, cause, message, startedAt, finishedAt: now, agentId, attempt, ...told, fence };
  return [{ kind: "node", node: { ...node, end } }];
};

const CANCELED: JobCause = { kind: "canceled", job: null, text: null };

/** Ends a build that was canceled: with what was said then, or else with what its agent says of the end. */
export const endCanceled = (
  held: ActiveBuild,
  context: DecisionContext,
  said: string | null = null,
  outcome: Outcome = { status: "canceled", exitCode: null, reason: cancelReason(held.build) },
): Change[] => endBuild(held, outcome, held.build.message ?? said, context);

/** Puts the build back into the queue. It keeps its age, and so its place. */
export const requeue = (
  { build, job }: Pick<ActiveBuild, "build" | "job">,
  patch: Partial<JobFacts>,
  context: DecisionContext,
  message = build.message ?? null,
): Change[] => [
  ...patchBuild(build, { status: "queued", startedAt: null, message }, context),
  { kind: "job", job: { ...job, ...patch, lease: null } },
  ...closeLog(job, context),
];

/** Queues the job again after a try that failed, where its file gives it another; else null. */
export const anotherTry = (
  held: ActiveBuild,
  outcome: Outcome,
  message: string | null,
  context: DecisionContext,
): Change[] | null => {
  const { build, job } = held;
  const { rules } = context;
  if (!rules.triesAgain(build, job, outcome)) return null;
  const code = outcome.exitCode === null ? "" : ` with exit code ${outcome.exitCode}`;
  const said = [`Attempt ${job.attempt} failed${code}, and the job is tried again.`, message];
  return requeue(held, rules.afterFailedTry(job), context, said.filter((one) => one !== null).join(" "));
};

/** The time of one try is over. */
export const endOvertime = (held: ActiveBuild, context: DecisionContext): Change[] => {
  const message = overtimeMessage(held.job);
  return anotherTry(held, TIMED_OUT, message, context) ?? endBuild(held, TIMED_OUT, message, context);
};

/** Closes the log of an ended build that had a lease, now or earlier, so that it moves to the archive. */
export const closeForGood = ({ id, fence }: JobFacts, { now, rules }: DecisionContext): Change[] =>
  fence > 0 ? rules.closes({ kind: "close", jobId: id, fence, at: now, endedAt: now }) : [];

/** Closes the log for the lease that is over: nothing more is written under it. */
const closeLog = ({ id, lease }: JobFacts, { now, rules }: DecisionContext): Change[] =>
  lease ? rules.closes({ kind: "close", jobId: id, fence: lease.fence, at: now }) : [];

/** Retires an ephemeral agent that has worked on its one build. */
export const retireEphemeral = (agent: AgentFacts | undefined, { now, leaseMs }: DecisionContext): Change[] =>
  agent?.isEphemeral && agent.spentAt === null ? [{ kind: "agent", agent: { ...agent, spentAt: now + leaseMs } }] : [];

const LOSS_CAUSES: Record<LossCause, string> = {
  expired: "sent no heartbeat in time",
  removed: "was removed",
  restarted: "was restarted",
  stopped: "was stopped",
};

/** Ends a lease without a result: the build is retried, or fails when its attempts are used up. */
export const loseLease = (
  held: ActiveBuild,
  agent: AgentFacts | undefined,
  cause: LossCause,
  context: DecisionContext,
): Change[] => {
  const { build, job } = held;
  const lost: Change = { kind: "lease-lost", cause };
  if (job.lease!.startedAt !== null) {
    return [
      lost,
      ...retryOrFail(held, `Its agent ${LOSS_CAUSES[cause]}.`, context),
      ...retireEphemeral(agent, context),
    ];
  }
  const message = `It was handed out ${POOL_LIMITS.unstarted} times, and no agent started it.`;
  const isIgnored = agent && cause === "expired" && build.status === "assigned";
  return [lost, ...retryOrFail(held, message, context), ...(isIgnored ? countIgnoredLease(agent, context) : [])];
};

const countIgnoredLease = (agent: AgentFacts, { now }: DecisionContext): Change[] => [
  { kind: "agent", agent: { ...agent, ignored: agent.ignored + 1, ignoredAt: now } },
];

const retryOrFail = (held: ActiveBuild, message: string, context: DecisionContext): Change[] => {
  const { build, job } = held;
  const { rules } = context;
  const lease = job.lease!;
  if (build.status === "canceling") return endCanceled(held, context);
  if (lease.stop?.reason === "timeout") return endOvertime(held, context);
  const isStarted = lease.startedAt !== null;
  const unstarted = isStarted ? job.unstarted : rules.unstartedAfter(job, "lost");
  const mayRetry = isStarted ? rules.hasAttemptLeft(job) : rules.hasUnstartedLeft({ ...job, unstarted });
  const counted = { ...held, job: { ...job, unstarted } };
  if (!mayRetry) return endBuild(counted, AGENT_LOST, message, context);
  /* The build shows this message until it ends: why there is a next attempt. */
  return requeue(counted, {}, context, isStarted ? `Attempt ${job.attempt} was lost. ${message}` : undefined);
};

const TIMED_OUT: Outcome = { status: "failed", exitCode: null, reason: "timeout" };
const AGENT_LOST: Outcome = { status: "failed", exitCode: null, reason: "agent-lost" };

export const overtimeMessage = ({ timeoutSeconds }: JobFacts): string =>
  `It ran for longer than its timeout of ${timeoutSeconds} seconds.`;
