import type { Actor } from "./commands.ts";
import { audit, rebuilt, type Setting, SYSTEM } from "./decision.ts";
import type { AgentFacts, BuildFacts, Change, JobFacts, Outcome } from "./facts.ts";
import { LIMITS } from "./rules.ts";

export interface Held {
  build: BuildFacts;
  job: JobFacts;
}

/** The build is over, for good. */
export const end = (
  { build, job }: Held,
  outcome: Outcome,
  message: string | null,
  actor: Actor,
  setting: Setting,
): Change[] => [
  ...rebuilt(build, { ...outcome, finishedAt: setting.now }, setting),
  { kind: "job", job: { ...job, lease: null } },
  { kind: "report", buildId: build.id, report: { message } },
  ...closing(job, setting),
  ...audit(actor, "build.finish", build.id, { status: outcome.status, reason: outcome.reason }, setting),
];

/** The build waits again, at the place in the queue that its age gives it. */
export const requeue = ({ build, job }: Held, patch: Partial<JobFacts>, setting: Setting): Change[] => [
  ...rebuilt(build, { status: "queued", startedAt: null }, setting),
  { kind: "job", job: { ...job, ...patch, lease: null } },
  ...closing(job, setting),
];

/** Nothing more is written to the log under a lease that is over. */
const closing = ({ buildId, lease }: JobFacts, { now }: Setting): Change[] =>
  lease ? [{ kind: "close", buildId, fence: lease.fence, at: now }] : [];

/** An ephemeral agent that has worked on its one build is done. */
export const spend = (agent: AgentFacts | undefined, { now, leaseMs }: Setting): Change[] =>
  agent?.isEphemeral && agent.spentAt === null ? [{ kind: "agent", agent: { ...agent, spentAt: now + leaseMs } }] : [];

const LOST = {
  expired: "was not heard from",
  removed: "was removed",
  restarted: "was restarted",
  stopped: "was stopped",
} as const;

/** A lease ends without a result of its build. */
export const lose = (
  held: Held,
  agent: AgentFacts | undefined,
  cause: keyof typeof LOST,
  setting: Setting,
): Change[] => {
  const { build, job } = held;
  if (job.lease!.startedAt !== null) {
    return [...giveUp(held, `Its agent ${LOST[cause]}.`, cause, setting), ...spend(agent, setting)];
  }
  const message = `It was handed out ${LIMITS.unstarted} times and never started.`;
  const isIgnored = agent && cause === "expired" && build.status === "assigned";
  return [...giveUp(held, message, cause, setting), ...(isIgnored ? ignore(agent, setting) : [])];
};

const ignore = (agent: AgentFacts, { now }: Setting): Change[] => [
  { kind: "agent", agent: { ...agent, ignored: agent.ignored + 1, ignoredAt: now } },
];

const giveUp = (held: Held, message: string, cause: string, setting: Setting): Change[] => {
  const { build, job } = held;
  const { rules } = setting;
  const lease = job.lease!;
  if (build.status === "canceling") return end(held, CANCELED, null, SYSTEM, setting);
  if (lease.stop?.reason === "timeout") return end(held, TIMED_OUT, overtimeMessage(job), SYSTEM, setting);
  const isStarted = lease.startedAt !== null;
  const unstarted = isStarted ? job.unstarted : rules.unstartedAfter(job, "lost");
  const mayGoOn = isStarted ? rules.hasAttemptLeft(job) : rules.hasUnstartedLeft({ ...job, unstarted });
  const counted = { build, job: { ...job, unstarted } };
  if (!mayGoOn) return end(counted, AGENT_LOST, message, SYSTEM, setting);
  const detail = { agentId: lease.agentId, cause };
  return [
    ...requeue(counted, {}, setting),
    ...(isStarted ? [lostAttempt(job, message)] : []),
    ...audit(SYSTEM, "build.requeue", build.id, detail, setting),
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
