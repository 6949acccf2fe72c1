import type { Actor } from "./commands.ts";
import { audit, type DecisionContext, patchBuild, SYSTEM } from "./decision.ts";
import type { AgentFacts, BuildFacts, Change, JobFacts, Outcome } from "./facts.ts";
import { POOL_LIMITS } from "./rules.ts";

export interface ActiveBuild {
  build: BuildFacts;
  job: JobFacts;
}

/** The build is over, for good. */
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

/** The build waits again, at the place in the queue that its age gives it. */
export const requeue = ({ build, job }: ActiveBuild, patch: Partial<JobFacts>, context: DecisionContext): Change[] => [
  ...patchBuild(build, { status: "queued", startedAt: null }, context),
  { kind: "job", job: { ...job, ...patch, lease: null } },
  ...closeLog(job, context),
];

/** Nothing more is written to the log under a lease that is over. */
const closeLog = ({ buildId, lease }: JobFacts, { now }: DecisionContext): Change[] =>
  lease ? [{ kind: "close", buildId, fence: lease.fence, at: now }] : [];

/** An ephemeral agent that has worked on its one build is done. */
export const retireEphemeral = (agent: AgentFacts | undefined, { now, leaseMs }: DecisionContext): Change[] =>
  agent?.isEphemeral && agent.spentAt === null ? [{ kind: "agent", agent: { ...agent, spentAt: now + leaseMs } }] : [];

const LOSS_CAUSES = {
  expired: "was not heard from",
  removed: "was removed",
  restarted: "was restarted",
  stopped: "was stopped",
} as const;

/** A lease ends without a result of its build. */
export const loseLease = (
  held: ActiveBuild,
  agent: AgentFacts | undefined,
  cause: keyof typeof LOSS_CAUSES,
  context: DecisionContext,
): Change[] => {
  const { build, job } = held;
  if (job.lease!.startedAt !== null) {
    return [
      ...retryOrFail(held, `Its agent ${LOSS_CAUSES[cause]}.`, cause, context),
      ...retireEphemeral(agent, context),
    ];
  }
  const message = `It was handed out ${POOL_LIMITS.unstarted} times and never started.`;
  const isIgnored = agent && cause === "expired" && build.status === "assigned";
  return [...retryOrFail(held, message, cause, context), ...(isIgnored ? countIgnoredLease(agent, context) : [])];
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
  const mayGoOn = isStarted ? rules.hasAttemptLeft(job) : rules.hasUnstartedLeft({ ...job, unstarted });
  const counted = { build, job: { ...job, unstarted } };
  if (!mayGoOn) return endBuild(counted, AGENT_LOST, message, SYSTEM, context);
  const detail = { agentId: lease.agentId, cause };
  return [
    ...requeue(counted, {}, context),
    ...(isStarted ? [lostAttempt(job, message)] : []),
    ...audit(SYSTEM, "build.requeue", build.id, detail, context),
  ];
};

/** Stands on the record until the build ends: why there is a next attempt. */
const lostAttempt = ({ buildId, attempt }: JobFacts, message: string): Change => ({
  kind: "report",
  buildId,
  report: { message: `Attempt ${attempt} was lost. ${message}` },
});

const NO_RESULT = { exitCode: null } as const;
export const CANCELED: Outcome = { ...NO_RESULT, status: "canceled", reason: "canceled" };
const TIMED_OUT: Outcome = { ...NO_RESULT, status: "failed", reason: "timeout" };
const AGENT_LOST: Outcome = { ...NO_RESULT, status: "failed", reason: "agent-lost" };

export const overtimeMessage = ({ timeoutSeconds }: JobFacts): string =>
  `It ran for longer than its ${timeoutSeconds} seconds.`;
