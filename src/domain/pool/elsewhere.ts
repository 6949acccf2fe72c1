import { agentActor, audit, type Decision, type DecisionContext, decided, refused } from "./decision.ts";
import type { ActiveBuild, Change, JobFacts } from "./facts.ts";
import { requeue } from "./lease.ts";
import { lastHeardAt, ONLINE_MS } from "./record.ts";
import type { PoolState } from "./state.ts";

/** Milliseconds after which it is looked at again whether another agent may still be waited for. */
const LOOK_AGAIN_MS = 60_000;

/** Whether another agent that is fit, there, and not known to be of no use may take the build, now or after its present one. */
const anotherMayTake = (state: PoolState, job: JobFacts, besides: string, context: DecisionContext): boolean => {
  const { now, rules } = context;
  return [...state.agents.values()].some((agent) => {
    const waiter = state.waiters.get(agent.id);
    const isThere = waiter ? rules.isAlert(waiter, now) : now - lastHeardAt(state, agent) < ONLINE_MS;
    const isFit = rules.meets(agent, job.requires) && !job.releasedBy.includes(agent.id);
    return agent.id !== besides && isThere && isFit && rules.takesBuilds(agent, now);
  });
};

/** The agent cannot fetch what another might. Once a build; no attempt is used. */
export const releaseElsewhere = (
  state: PoolState,
  held: ActiveBuild,
  agentId: string,
  reason: string,
  context: DecisionContext,
): Decision<string> => {
  const { build, job } = held;
  if (!context.rules.mayGoElsewhere(job) || !context.rules.isWaitedFor(anotherMayTake(state, job, agentId, context))) {
    return refused("conflict", "No other agent can take it now, or one was tried already: report the result.");
  }
  const attempt = job.lease!.startedAt === null ? job.attempt : context.rules.attemptAfterRelease(job);
  const passedOver = { agentId, until: context.now + LOOK_AGAIN_MS };
  return decided(build.id, [
    ...requeue(held, { attempt, passedOver }, context),
    { kind: "report", buildId: build.id, report: { message: reason } },
    ...audit(agentActor(agentId), "build.release", build.id, { elsewhere: true }, context),
  ]);
};

/** Of builds that wait for another agent: those for which there is none any more may go to any again. */
export const recheckElsewhere = (state: PoolState, waiting: readonly string[], context: DecisionContext): Change[] =>
  waiting.flatMap((id): Change[] => {
    const job = state.jobs.get(id);
    const { agentId, until } = job?.passedOver ?? { until: null };
    if (!job || job.lease || until === null || until > context.now) return [];
    const isStill = context.rules.isWaitedFor(anotherMayTake(state, job, agentId!, context));
    const passedOver = { agentId: agentId!, until: isStill ? context.now + LOOK_AGAIN_MS : null };
    return [{ kind: "job", job: { ...job, passedOver } }];
  });
