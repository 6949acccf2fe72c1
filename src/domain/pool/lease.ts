import type { Actor } from "./commands.ts";
import { audit, type DecisionContext, patchBuild, SYSTEM } from "./decision.ts";
import type { LossCause } from "./events.ts";
import type { ActiveBuild, AgentFacts, Change, JobFacts, Outcome } from "./facts.ts";
import { POOL_LIMITS } from "./rules.ts";

/** Ends the build with this outcome. */
export const endBuild = (
  { build, job }: ActiveBuild,
  outcome: Outcome,
  message: string | null,
  actor: Actor,
  context: DecisionContext,
): Change[] => [
  ...patchBuild(build, { ...outcome, finishedAt: context.now }, context),
  { kind: "job", job: { ...job, lease: null } },
  { kind: "report", buildId: build.id, report: { message } },
  ...closeLog(job, context),
  ...audit(actor, "build.finish", build.id, { status: outcome.status, reason: outcome.reason }, context),
];

/** Puts the build back into the queue. It keeps its age, and so its place. */
export const requeue = ({ build, job }: ActiveBuild, patch: Partial<JobFacts>, context: DecisionContext): Change[] => [
  ...patchBuild(build, { status: "queued", startedAt: null }, context),
  { kind: "job", job: { ...job, ...patch, lease: null } },
  ...closeLog(job, context),
];

/** Closes the log for the lease that is over: nothing more is written under it. */
const closeLog = ({ buildId, lease }: JobFacts, { now }: DecisionContext): Change[] =>
  lease ? [{ kind: "close", buildId, fence: lease.fence, at: now }] : [];

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
      ...retryOrFail(held, `Its agent ${LOSS_CAUSES[cause]}.`, cause, context),
      ...retireEphemeral(agent, context),
    ];
  }
  const message = `It was handed out ${POOL_LIMITS.unstarted} times, and no agent started it.`;
  const isIgnored = agent && cause === "expired" && build.status === "assigned";
  return [lost, ...retryOrFail(held, message, cause, context), ...(isIgnored ? countIgnoredLease(agent, context) : [])];
};

const countIgnoredLease = (agent: AgentFacts, { now }: DecisionContext): Change[] => [
  { kind: "agent", agent: { ...agent, ignored: agent.ignored + 1, ignoredAt: now } },
];

const retryOrFail = (held: ActiveBuild, message: string, cause: string, context: DecisionContext): Change[] => {
  const { build, job } = held;
  const { rules } = context;
  const lease = job.lease!;
  if (build.status === "canceling") return endBuild(held, CANCELED, null, SYSTEM, context);
  if (lease.stop?.reason === "timeout") return endBuild(held, TIMED_OUT, overtimeMessage(job), SYSTEM, context);
  const isStarted = lease.startedAt !== null;
  const unstarted = isStarted ? job.unstarted : rules.unstartedAfter(job, "lost");
  const mayRetry = isStarted ? rules.hasAttemptLeft(job) : rules.hasUnstartedLeft({ ...job, unstarted });
  const counted = { build, job: { ...job, unstarted } };
  if (!mayRetry) return endBuild(counted, AGENT_LOST, message, SYSTEM, context);
  const detail = { agentId: lease.agentId, cause };
  return [
    ...requeue(counted, {}, context),
    ...(isStarted ? [lostAttempt(job, message)] : []),
    ...audit(SYSTEM, "build.requeue", build.id, detail, context),
  ];
};

/** The build shows this message until it ends: why there is a next attempt. */
const lostAttempt = ({ buildId, attempt }: JobFacts, message: string): Change => ({
  kind: "report",
  buildId,
  report: { message: `Attempt ${attempt} was lost. ${message}` },
});

export const CANCELED: Outcome = { status: "canceled", exitCode: null, reason: "canceled" };
export const TIMED_OUT: Outcome = { status: "failed", exitCode: null, reason: "timeout" };
const AGENT_LOST: Outcome = { status: "failed", exitCode: null, reason: "agent-lost" };

export const overtimeMessage = ({ timeoutSeconds }: JobFacts): string =>
  `It ran for longer than its timeout of ${timeoutSeconds} seconds.`;
