import { SECOND_MS } from "../../protocol/units.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import {
  agentActor,
  audit,
  type Decision,
  type DecisionContext,
  decided,
  findEntry,
  findLeasedEntry,
  leaseLost,
  notCompared,
  refused,
  unknownToken,
  verifiedAgent,
} from "../state/decision.ts";
import type { Change, JobEntry, JobFacts, JobLease } from "../state/facts.ts";
import { isAllowed } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import type { ClaimRequest, FailClaim, JobDelivery, Unclaim } from "./commands.ts";
import { commitChanges, endCanceled, endJob, requeue } from "./lease.ts";
import { firstJobFor, NO_RESERVATIONS } from "./match.ts";
import { holdOthers, isPaused, resume, startPause } from "./pause.ts";

/** The minimum time in milliseconds that a job waits after the service took its hand-out back. */
const UNCLAIM_MS = SECOND_MS;

export interface Claim {
  jobId: string;
  fence: number;
  expiresAt: number;
  /** Whether the agent got the same lease before. In that case, the earlier answer was lost. */
  isAgain?: boolean;
}

/**
 * Leases the next job to the agent. If the agent claimed a job but did not start it, hands this job out again under
 * the same lease, so that a lost answer loses no job.
 *
 * The pool writes a granted lease with the next step, usually its delivery, so that a hand-out writes the job's row
 * once. An eviction before that write loses only the lease: the Worker has notified neither the agent nor the log, the
 * pool rejects the delivery, and the job waits in the queue as before. The job's next lease still has a higher fence,
 * because the clock advanced.
 */
export const claim = (state: PoolState, request: ClaimRequest, context: DecisionContext): Decision<Claim | null> => {
  const { now, rules } = context;
  const agent = verifiedAgent(state, request);
  if (!agent) return unknownToken();
  const offerChanges = closeOffer(state, agent);
  if (rules.isStale(agent, request.bootId)) return decided(null);
  const entry = findLeasedEntry(state, agent.id);
  if (entry && state.unchecked !== null) return notCompared();
  if (entry) {
    const { job } = entry;
    return decided(isAllowed("hand-out", job) ? { ...toClaim(job.id, job.lease!), isAgain: true } : null, offerChanges);
  }
  const mayTake = rules.takesBuilds(agent, now) && !isPaused(state, now);
  const next = mayTake ? firstJobFor(state, agent, NO_RESERVATIONS, context) : undefined;
  if (!next) return decided(null, offerChanges);
  if (state.unchecked !== null) return uncompared(state, state.jobs.get(next.id)!, offerChanges, context);
  const { changes, lease } = leaseJob(state, findEntry(state, next.id)!, agent, context);
  return decided(toClaim(next.id, lease), [...offerChanges, ...changes]);
};

/** Starts a pause, because D1 is unavailable for every hand-out. Repeated calls would get the same answer. */
const uncompared = (
  state: PoolState,
  job: JobFacts,
  offerChanges: Change[],
  context: DecisionContext,
): Decision<never> => {
  const { changes, jobPatch } = startPause(state, null, context);
  return { ...notCompared(), changes: [...offerChanges, ...changes, { kind: "job", job: { ...job, ...jobPatch } }] };
};

const toClaim = (jobId: string, { fence, expiresAt }: JobLease): Claim => ({ jobId, fence, expiresAt });

const closeOffer = (state: PoolState, { id }: AgentFacts): Change[] => {
  const jobId = state.index.offered.get(id);
  return jobId ? [{ kind: "offer", jobId, offer: null }] : [];
};

const leaseJob = (state: PoolState, { job }: JobEntry, agent: AgentFacts, context: DecisionContext) => {
  const { now, startMs } = context;
  // The fence increases even if the disk or the clock was set back.
  const fence = Math.max(state.fence + 1, now);
  const lease: JobLease = {
    fence,
    agentId: agent.id,
    expiresAt: now + startMs,
    startedAt: null,
    stop: null,
    graced: false,
  };
  const { changes: trying, jobPatch } = holdOthers(state, lease);
  const changes: Change[] = [
    ...trying,
    {
      kind: "job",
      job: { ...job, ...jobPatch, status: "assigned", lease, fence, agentId: agent.id, notBefore: 0, result: null },
    },
  ];
  return { lease, changes };
};

/**
 * Makes the last check before the service sends secrets: the lease is current, the job is not canceled, and the agent
 * still exists. The audit entry names the keys; the pool stores the entry before it answers.
 */
export const deliver = (state: PoolState, delivery: JobDelivery, context: DecisionContext): Decision<Claim> => {
  const { jobId, fence, agentId, environment, steps, variableIds = [], requestId = null } = delivery;
  const entry = findEntry(state, jobId);
  if (!entry || !context.rules.holdsLease(entry.job, agentId, fence) || !state.agents.has(agentId)) return leaseLost();
  if (!isAllowed("deliver", entry.job)) return leaseLost();
  const answer = toClaim(jobId, entry.job.lease!);
  const changes = [...commitChanges(entry, delivery, context), ...resume(state)];
  if (environment === null) return decided(answer, changes);
  const keys = environment.map(({ key }) => key);
  const actor = { ...agentActor(agentId), requestId };
  return decided(answer, [
    { kind: "report", jobId, report: { environment, ...(steps && { steps }) }, at: context.now },
    ...changes,
    ...audit(actor, "build.deliver", jobId, { agentId, keys }, context, variableIds),
  ]);
};

const findByFence = (
  state: PoolState,
  { jobId, fence }: { jobId: string; fence: number },
  { rules }: DecisionContext,
) => {
  const entry = findEntry(state, jobId);
  const lease = entry?.job.lease;
  return entry && lease && rules.holdsLease(entry.job, lease.agentId, fence) ? entry : undefined;
};

/** Takes a hand-out back because a part of the service does not respond. The job keeps its attempt. */
export const unclaim = (state: PoolState, request: Unclaim, context: DecisionContext): Decision<null> => {
  const entry = findByFence(state, request, context);
  if (!entry) return leaseLost();
  if (entry.job.lease!.startedAt !== null) return refused("conflict", "The build was started.");
  const { changes, jobPatch } = afterUnclaim(state, request, context);
  if (entry.job.status === "canceling") return decided(null, [...changes, ...endCanceled(entry, context)]);
  // A close would create the tables of an empty log.
  const over = request.isLogOpen === false ? { job: { ...entry.job, lease: null } } : entry;
  return decided(null, [...changes, ...requeue(over, jobPatch, context)]);
};

/** Decides whether the pool pauses, and for how long the job waits. */
const afterUnclaim = (state: PoolState, request: Unclaim, context: DecisionContext) => {
  if (request.isAway) return startPause(state, request.fence, context);
  const notBefore = Math.max(request.notBefore, context.now + UNCLAIM_MS);
  return request.isAway === false
    ? { changes: resume(state), jobPatch: { notBefore, pause: undefined } }
    : { changes: [], jobPatch: { notBefore } };
};

/** Fails a job whose environment cannot be composed. Another hand-out of the job would also fail. */
export const failClaim = (state: PoolState, request: FailClaim, context: DecisionContext): Decision<string> => {
  const entry = findByFence(state, request, context);
  if (!entry) return leaseLost();
  if (entry.job.lease!.startedAt !== null) return refused("conflict", "The build was started.");
  const failure = { status: "failed", exitCode: null, reason: request.reason } as const;
  const ended =
    entry.job.status === "canceling"
      ? endCanceled(entry, context, request.message)
      : endJob(entry, failure, request.message, context);
  return decided(request.jobId, [...resume(state), ...ended]);
};
