import { MINUTE_MS } from "../../protocol/units.ts";
import { lastHeardAt, ONLINE_MS } from "../state/deadlines.ts";
import { type Decision, type DecisionContext, decided, refused } from "../state/decision.ts";
import type { JobEntry, JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { requeue } from "./lease.ts";

/** Milliseconds between two checks whether another agent may still take the job. */
const RECHECK_MS = MINUTE_MS;

/** Reports whether another agent is online, can run the job, and takes builds now or after its current build. */
const anotherAgentMayTake = (state: PoolState, job: JobFacts, exceptId: string, context: DecisionContext): boolean => {
  const { now, rules } = context;
  const { requires, features = [], releasedBy } = job;
  return [...state.agents.values()].some((agent) => {
    const waiter = state.waiters.get(agent.id);
    const isOnline = waiter ? rules.isAlert(waiter, now) : now - lastHeardAt(state, agent) < ONLINE_MS;
    const isAble = rules.meets(agent, requires) && rules.runsLane(agent, { features });
    const isOther = agent.id !== exceptId && !releasedBy.includes(agent.id);
    return isOther && isOnline && isAble && rules.takesBuilds(agent, now);
  });
};

/**
 * Leaves the job to another agent that may be able to fetch it. This is possible once for each job, and uses no
 * attempt.
 */
export const reassign = (
  state: PoolState,
  entry: JobEntry,
  agentId: string,
  reason: string,
  context: DecisionContext,
): Decision<string> => {
  const { job } = entry;
  if (job.passedOver || !anotherAgentMayTake(state, job, agentId, context)) {
    return refused("conflict", "No other agent can take the build now, or one has already tried: report the result.");
  }
  const attempt = job.lease!.startedAt === null ? job.attempt : context.rules.attemptAfterRelease(job);
  const passedOver = { agentId, until: context.now + RECHECK_MS };
  return decided(job.id, requeue(entry, { attempt, passedOver }, context, reason));
};

/** Checks a queued job that waits for another agent. If none is left, the first agent may have the job again. */
export const recheckReassigned = (state: PoolState, job: JobFacts, context: DecisionContext): JobFacts => {
  const { agentId, until } = job.passedOver ?? { until: null };
  if (until === null || until > context.now) return job;
  const isWaiting = anotherAgentMayTake(state, job, agentId!, context);
  return { ...job, passedOver: { agentId: agentId!, until: isWaiting ? context.now + RECHECK_MS : null } };
};
