import { type DueIds, lastContact, stopDue } from "../state/deadlines.ts";
import {
  audit,
  type Decision,
  type DecisionContext,
  decided,
  findEntry,
  type Push,
  SYSTEM,
  toHint,
} from "../state/decision.ts";
import type { Change, JobFacts } from "../state/facts.ts";
import { EPHEMERAL_MS, OFFER_MS, OUTAGE_MS } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import { expireApprovals } from "./gates.ts";
import { loseLease } from "./lease.ts";
import { endPause } from "./pause.ts";
import { recheckReassigned } from "./reassign.ts";

/** Ends what is overdue: leases, jobs that run too long, delays, offers without a reaction, and absent agents. */
export const sweep = (state: PoolState, due: DueIds, context: DecisionContext): Decision<null> => {
  const stops = stopOvertime(state, due.lease, context);
  const repeatedStops = repeatStops(state, due.stop, context);
  const leaseChanges = missedDeadlines(state, due.lease, context)
    ? extendAllLeases(state, context)
    : endExpired(state, due.lease, context);
  return decided(
    null,
    [
      ...stops.changes,
      ...repeatedStops.changes,
      ...leaseChanges,
      // This precedes the removals, because a withdrawal updates the waiter, and would make a removed agent wait again.
      ...withdrawOffers(state, due.offer, context),
      ...removeAgents(state, due, context),
      ...endWaits(state, due, context),
      ...(due.pause.length > 0 ? endPause(state, context) : []),
      ...unsettled(state, due),
      ...expireApprovals(state, due.build, context),
      ...due.offersResume.map((agentId) => ({ kind: "offers-resumed", agentId }) as const),
    ],
    [...stops.pushes, ...repeatedStops.pushes],
  );
};

/** Marks builds that took too long, and builds with gates that nobody answered. */
const unsettled = ({ jobs }: PoolState, { gate, build }: DueIds): Change[] =>
  [...build, ...gate.map((jobId) => jobs.get(jobId)?.buildId)].flatMap((buildId) =>
    buildId === undefined ? [] : [{ kind: "unsettled", buildId } as const],
  );

/** Reports whether a deadline passed long ago. If so, the service was down, and could not receive heartbeats. */
const missedDeadlines = (state: PoolState, jobIds: readonly string[], { now }: DecisionContext): boolean =>
  jobIds.some((id) => {
    const lease = state.jobs.get(id)?.lease;
    return !!lease && now - lease.expiresAt > OUTAGE_MS && !lease.graced;
  });

/** Renews every lease once after an outage. If a lease was already renewed this way and has expired again, ends it. */
const extendAllLeases = (state: PoolState, context: DecisionContext): Change[] => {
  const { now, startMs, leaseMs } = context;
  return [...state.index.holding.values()].flatMap((id): Change[] => {
    const job = state.jobs.get(id)!;
    const lease = job.lease!;
    if (lease.graced) return endExpired(state, [id], context);
    const expiresAt = Math.max(lease.expiresAt, now + (lease.startedAt === null ? startMs : leaseMs));
    const stop = overtimeStop(job, context);
    return [
      { kind: "job", job: { ...job, lease: { ...lease, stop, expiresAt, writtenUntil: expiresAt, graced: true } } },
    ];
  });
};

const endExpired = (state: PoolState, jobIds: readonly string[], context: DecisionContext): Change[] =>
  jobIds.flatMap((id) => {
    const entry = findEntry(state, id);
    const lease = entry?.job.lease;
    if (!entry || !lease || !context.rules.leaseIsOver(lease, context.now)) return [];
    const stoppedEntry = {
      ...entry,
      job: { ...entry.job, lease: { ...lease, stop: overtimeStop(entry.job, context) } },
    };
    return loseLease(stoppedEntry, state.agents.get(lease.agentId), "expired", context);
  });

const overtimeStop = (job: JobFacts, { now, rules }: DecisionContext) =>
  rules.overtime(job, now) ? ({ reason: "timeout", at: now } as const) : job.lease!.stop;

/** Notifies agents to stop jobs that run too long. */
const stopOvertime = (
  state: PoolState,
  jobIds: readonly string[],
  context: DecisionContext,
): { changes: Change[]; pushes: Push[] } => {
  const changes: Change[] = [];
  const pushes: Push[] = [];
  for (const jobId of jobIds) {
    const job = state.jobs.get(jobId);
    if (!job?.lease || !context.rules.overtime(job, context.now)) continue;
    changes.push({ kind: "job", job: { ...job, lease: { ...job.lease, stop: overtimeStop(job, context) } } });
    changes.push({ kind: "stop-told", jobId, at: context.now });
    pushes.push({ agentId: job.lease.agentId, hint: toHint("cancel", job) });
  }
  return { changes, pushes };
};

/** Notifies agents again to stop their jobs, because the first hint may have been lost. */
const repeatStops = (
  state: PoolState,
  jobIds: readonly string[],
  { now }: DecisionContext,
): { changes: Change[]; pushes: Push[] } => {
  const unanswered = jobIds.filter((id) => (stopDue(state, id) ?? Infinity) <= now);
  return {
    changes: unanswered.map((jobId) => ({ kind: "stop-told", jobId, at: now })),
    pushes: unanswered.map((jobId) => {
      const job = state.jobs.get(jobId)!;
      return { agentId: job.lease!.agentId, hint: toHint("cancel", job) };
    }),
  };
};

/** Removes agents that are no longer needed or there. An ephemeral agent may be both, and is removed once. */
const removeAgents = (state: PoolState, { retirement, silence }: DueIds, context: DecisionContext): Change[] => {
  const retired = removeRetired(state, retirement, context);
  const retiredIds = new Set(retired.flatMap((change) => (change.kind === "agent-removed" ? [change.agentId] : [])));
  const others = silence.filter((agentId) => !retiredIds.has(agentId));
  return [...retired, ...forgetSilent(state, others, context)];
};

/** Removes ephemeral agents that have worked on their one job, or that left without a job. */
const removeRetired = (state: PoolState, agentIds: readonly string[], context: DecisionContext): Change[] =>
  agentIds.flatMap((agentId): Change[] => {
    const agent = state.agents.get(agentId);
    if (!agent?.isEphemeral && !agent?.spentAt) return [];
    if (agent.spentAt === null) return forget(state, agentId, EPHEMERAL_MS, context);
    if (context.now < agent.spentAt || state.index.holding.has(agentId)) return [];
    const removal = { kind: "agent-removed", agentId } as const;
    return [removal, ...audit(SYSTEM, "agent.remove", agentId, { name: agent.name, isEphemeral: true }, context)];
  });

const forgetSilent = (state: PoolState, agentIds: readonly string[], context: DecisionContext): Change[] =>
  agentIds.flatMap((agentId) => forget(state, agentId, context.agentMs, context));

const forget = (state: PoolState, agentId: string, silenceMs: number, context: DecisionContext): Change[] => {
  const at = lastContact(state, agentId, context);
  if (at === null || context.now - at < silenceMs) return [];
  const { name } = state.agents.get(agentId)!;
  const detail = { name, lastHeartbeatAt: new Date(at).toISOString() };
  return [{ kind: "agent-removed", agentId }, ...audit(SYSTEM, "agent.forget", agentId, detail, context)];
};

/** Ends what queued jobs wait for. A job's delay and its wait for another agent may end together: it is written once. */
const endWaits = (state: PoolState, { delay, otherAgent }: DueIds, context: DecisionContext): Change[] =>
  [...new Set([...delay, ...otherAgent])].flatMap((id): Change[] => {
    const job = state.jobs.get(id);
    if (job?.status !== "queued") return [];
    const next = recheckReassigned(state, endDelay(job, context), context);
    return next === job ? [] : [{ kind: "job", job: next }];
  });

/** Removes a delay that is over, so that a clock that is set back cannot restore it. */
const endDelay = (job: JobFacts, { now }: DecisionContext): JobFacts =>
  job.notBefore !== 0 && job.notBefore <= now ? { ...job, notBefore: 0 } : job;

/** Withdraws offers that agents did not follow in time, and counts these offers against the agents. */
const withdrawOffers = (state: PoolState, jobIds: readonly string[], { now }: DecisionContext): Change[] =>
  jobIds.flatMap((jobId): Change[] => {
    const offer = state.offers.get(jobId);
    if (!offer || now < offer.at + OFFER_MS) return [];
    const { agentId } = offer;
    const waiter = state.waiters.get(agentId);
    const withdrawal: Change = { kind: "offer", jobId, offer: null };
    if (!waiter) return [withdrawal];
    const nextWaiter = { ...waiter, ignored: waiter.ignored + 1, ignoredAt: now };
    return [withdrawal, { kind: "offer-ignored" }, { kind: "waiter", agentId, waiter: nextWaiter }];
  });
