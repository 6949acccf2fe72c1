import { PERIODS } from "../../protocol/limits.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { CLEAN_UP_MS } from "../jobs/rules.ts";
import type { AgentFacts } from "./agent-facts.ts";
import type { DecisionContext } from "./decision.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";
import { EPHEMERAL_MS, IGNORED_LIMIT, STOP_AGAIN_MS, UNRESPONSIVE_MS } from "./rules.ts";
import { DEADLINE_KINDS, type DeadlineKind, type PoolState } from "./state.ts";
import { approvalUntil } from "./trust.ts";

/**
 * Returns when a build that was settled at `now` must be settled again without an event: when a gate times out, its own
 * time is over, or its clean-up minutes are over. The time is in milliseconds since 1970; null means never. Missed
 * times do not count, because the pool settles every build once after a load.
 */
export const settleDue = (
  { until, cancel }: Pick<BuildFacts, "until" | "cancel">,
  jobs: Iterable<Pick<JobFacts, "gate" | "end">>,
  now: number,
): number | null => {
  const times = cancel ? [cancel.until] : [];
  if (until !== null) times.push(until, until + CLEAN_UP_MS);
  for (const { gate, end } of jobs) if (gate && !gate.decision && !end) times.push(gate.until);
  const ahead = times.filter((time) => time > now);
  return ahead.length === 0 ? null : Math.min(...ahead);
};

/** Ids of jobs, builds or agents whose deadlines may have passed, by kind. */
export interface DueIds extends Record<DeadlineKind, readonly string[]> {
  /** Jobs whose agent did not follow the offer in time. */
  offer: readonly string[];
  /** Agents that may have been silent for too long. */
  silence: readonly string[];
}

/** The maximum number of agents that one sweep forgets, so that it never blocks the queue. */
const FORGET_LIMIT = 100;

const isAnyDue = ({ deadlines, index }: PoolState, { now, agentMs }: DecisionContext): boolean =>
  deadlines.lease.isDue(now) ||
  deadlines.stop.isDue(now) ||
  deadlines.delay.isDue(now) ||
  deadlines.otherAgent.isDue(now) ||
  deadlines.offersResume.isDue(now) ||
  deadlines.retirement.isDue(now) ||
  deadlines.gate.isDue(now) ||
  deadlines.build.isDue(now) ||
  deadlines.pause.isDue(now) ||
  index.offerDeadlines.isDue(now) ||
  index.contacts.isDue(now - agentMs);

/** Takes every deadline that may have passed. Returns null if no deadline has passed. */
export const takeDue = (state: PoolState, context: DecisionContext): DueIds | null => {
  if (!isAnyDue(state, context)) return null;
  const { deadlines, index } = state;
  const { now, agentMs } = context;
  return {
    lease: deadlines.lease.takeDue(now),
    stop: deadlines.stop.takeDue(now),
    delay: deadlines.delay.takeDue(now),
    otherAgent: deadlines.otherAgent.takeDue(now),
    offersResume: deadlines.offersResume.takeDue(now),
    retirement: deadlines.retirement.takeDue(now),
    gate: deadlines.gate.takeDue(now),
    build: deadlines.build.takeDue(now),
    pause: deadlines.pause.takeDue(now),
    offer: index.offerDeadlines.takeDue(now),
    silence: index.contacts.takeDue(now - agentMs, FORGET_LIMIT),
  };
};

/** Reschedules deadlines that were taken too early, and agents that are still present. */
export const rescheduleEarly = (state: PoolState, due: DueIds, context: DecisionContext): void => {
  for (const agentId of due.silence) {
    const at = lastContact(state, agentId, context);
    if (at !== null) state.index.contacts.schedule(agentId, at);
  }
  for (const kind of DEADLINE_KINDS) {
    for (const id of due[kind]) {
      const at = ACTUAL[kind](state, id, context.now);
      if (at !== null && at > context.now) state.deadlines[kind].schedule(id, at);
    }
  }
};

/**
 * Moves the earliest lease deadline to its actual time, so that the object sets no alarm for a deadline that moved
 * later or is gone.
 */
export const settleLeases = (state: PoolState): void => {
  state.deadlines.lease.settle((id) => leaseDueById(state, id));
};

/**
 * Milliseconds of a grid: the pool checks leases at its multiples, so that many agents' leases share an alarm. Each
 * alarm costs a row.
 */
const LEASE_GRID_MS = 5 * SECOND_MS;

/** Returns the earliest of the times, or null if there are no times. */
export const earliest = (times: readonly (number | null)[]): number | null => {
  let first: number | null = null;
  for (const at of times) if (at !== null && (first === null || at < first)) first = at;
  return first;
};

/** Returns the earliest time at which the pool checks its deadlines. */
export const nextDeadline = ({ deadlines }: PoolState): number | null => {
  const lease = deadlines.lease.next();
  return earliest([
    lease === null ? null : Math.ceil(lease / LEASE_GRID_MS) * LEASE_GRID_MS,
    deadlines.stop.next(),
    deadlines.delay.next(),
    deadlines.otherAgent.next(),
    deadlines.offersResume.next(),
    deadlines.retirement.next(),
    deadlines.gate.next(),
    deadlines.build.next(),
    deadlines.pause.next(),
  ]);
};

/** Returns when a lease needs attention, because it expires or its job runs for too long. */
export const leaseDue = ({ lease, timeoutSeconds }: JobFacts): number | null => {
  if (!lease) return null;
  if (lease.startedAt === null || lease.stop) return lease.expiresAt;
  return Math.min(lease.expiresAt, lease.startedAt + timeoutSeconds * 1000);
};

/**
 * Returns when the pool first checks a build without an event: its time or its cancel's time is over, or its approval
 * expires.
 */
export const buildDue = (build: BuildFacts): number | null =>
  earliest([build.until, build.cancel?.until ?? null, approvalUntil(build)]);

/** Returns when a gate without a decision closes for good. */
const gateDue = ({ jobs }: PoolState, jobId: string): number | null => {
  const { gate, end } = jobs.get(jobId) ?? {};
  return gate && !gate.decision && !end ? gate.until : null;
};

/**
 * Returns when to notify an agent with an open socket again to stop the job. This ends when a heartbeat's answer has
 * contained the stop.
 */
export const stopDue = ({ jobs, waiters, stopNotices }: PoolState, jobId: string): number | null => {
  const lease = jobs.get(jobId)?.lease;
  if (!lease?.stop || waiters.get(lease.agentId)?.until !== null) return null;
  const sentAt = stopNotices.get(jobId);
  return sentAt === null ? null : (sentAt ?? lease.stop.at) + STOP_AGAIN_MS;
};

/** Milliseconds for which an agent counts as online after its last contact. */
export const ONLINE_MS = PERIODS.onlineSeconds * SECOND_MS;

/** Returns the agent's last contact. `pingedAt` is the last ping on the agent's socket. */
export const lastHeardAt = (state: PoolState, agent: AgentFacts, pingedAt = 0): number =>
  Math.max(agent.heardAt, state.lastContacts.get(agent.id) ?? 0, pingedAt);

/** Reports whether the agent made contact recently, or waits in a poll. */
export const isOnline = (state: PoolState, agent: AgentFacts, now: number, pingedAt = 0): boolean => {
  const until = state.waiters.get(agent.id)?.until ?? 0;
  return until > now || now - lastHeardAt(state, agent, pingedAt) < ONLINE_MS;
};

/** Returns when the pool removes an ephemeral agent: after its one job, or after a long absence without a job. */
export const retirementAt = (state: PoolState, agentId: string): number | null => {
  const agent = state.agents.get(agentId);
  if (!agent?.isEphemeral || agent.spentAt !== null) return agent?.spentAt ?? null;
  return isHere(state, agentId) ? null : lastHeardAt(state, agent) + EPHEMERAL_MS;
};

/** Reports whether the agent waits or holds a job. */
const isHere = (state: PoolState, agentId: string): boolean =>
  state.waiters.has(agentId) || state.index.holding.has(agentId);

/** Returns when a waiting agent that ignored its offers gets offers again. */
export const offersResumeAt = (state: PoolState, agentId: string): number | null => {
  const agent = state.agents.get(agentId);
  const waiter = state.waiters.get(agentId);
  if (!agent || !waiter) return null;
  const since = [agent, waiter].filter(({ ignored }) => ignored >= IGNORED_LIMIT).map(({ ignoredAt }) => ignoredAt);
  return since.length > 0 ? Math.max(...since) + UNRESPONSIVE_MS : null;
};

/** Returns an agent's last sign of life, which is now for an agent that waits or holds a job. */
export const lastContact = (state: PoolState, agentId: string, { now }: DecisionContext): number | null => {
  const agent = state.agents.get(agentId);
  return agent ? (isHere(state, agentId) ? now : lastHeardAt(state, agent)) : null;
};

const leaseDueById = ({ jobs }: PoolState, id: string): number | null => {
  const job = jobs.get(id);
  return job ? leaseDue(job) : null;
};

/** Reads a deadline's actual time from the facts. Returns null if the deadline no longer exists. */
const ACTUAL: Record<DeadlineKind, (state: PoolState, id: string, now: number) => number | null> = {
  lease: leaseDueById,
  stop: stopDue,
  delay: ({ jobs }, id) => {
    const job = jobs.get(id);
    return job?.status !== "queued" || job.notBefore === 0 ? null : job.notBefore;
  },
  otherAgent: ({ jobs }, id) => {
    const job = jobs.get(id);
    return job?.status === "queued" ? (job.passedOver?.until ?? null) : null;
  },
  offersResume: offersResumeAt,
  retirement: retirementAt,
  gate: gateDue,
  build: ({ builds }, id, now) => {
    const build = builds.get(id);
    return build ? earliest([settleDue(build, [], now), approvalUntil(build)]) : null;
  },
  pause: ({ pause }) => pause?.until ?? null,
};
