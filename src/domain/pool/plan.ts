import { withCommas } from "../../protocol/limits.ts";
import type { PlanRefused, PlanRequest } from "./commands.ts";
import {
  agentActor,
  audit,
  type Decision,
  type DecisionContext,
  decided,
  leaseLost,
  patchBuild,
  refused,
  unknownId,
  unknownToken,
  verifiedAgent,
} from "./decision.ts";
import type { ActiveBuild, Change } from "./facts.ts";
import { commitBuilt } from "./found.ts";
import { endBuild } from "./lease.ts";
import { addGraph, countWaiting, newSeveral, notBeforeOf } from "./several.ts";
import type { BuildGraph, PoolState } from "./state.ts";
import { buildOfCaller, isRefused } from "./work.ts";

/** The jobs of a build of several, by the keys of its file. */
export interface PlannedJobs {
  jobs: { id: string; key: string }[];
}

/** The agent that read the file of a build says which jobs it has. Its own lease is over, and the jobs are there. */
export const plan = (state: PoolState, request: PlanRequest, context: DecisionContext): Decision<PlannedJobs> => {
  const { buildId, fence, agentId, graph } = request;
  if (!verifiedAgent(state, context, request)) return unknownToken();
  const known = state.graphs.get(buildId);
  if (known) return planAgain(state, known, request, context);
  const held = buildOfCaller(state, { ...request, buildId, fence, agentId }, context);
  if (isRefused(held)) return held;
  const problem = planProblem(held, request, context);
  if (problem) return refused("conflict", problem);
  if (countWaiting(state) + graph.jobs.length > context.maxQueued) return queueFull(held, context);
  return decided({ jobs: namesOf(graph.jobs) }, accept(held, request, context));
};

const namesOf = (jobs: BuildGraph["graph"]["jobs"]): PlannedJobs["jobs"] => jobs.map(({ id, key }) => ({ id, key }));

/** The answer may have been lost: the same text, under the lease that it came with, gets it again. */
const planAgain = (
  state: PoolState,
  { graph }: BuildGraph,
  { buildId, fence, agentId, graph: sent }: PlanRequest,
  { rules }: DecisionContext,
): Decision<PlannedJobs> => {
  const job = state.jobs.get(buildId);
  if (!job || fence === 0 || job.fence !== fence || job.agentId !== agentId) return leaseLost();
  return rules.planAccepted(graph.hash, sent.hash) === "same"
    ? decided({ jobs: namesOf(graph.jobs) })
    : refused("conflict", "The jobs of this build are known already, from another text.");
};

const planProblem = (
  { build, job }: ActiveBuild,
  { graph }: PlanRequest,
  { rules }: DecisionContext,
): string | null => {
  if (build.jobOf) return "A job of a build has no jobs of its own.";
  if (build.status !== "running" || job.lease?.stop)
    return "The build does not run: it was not started, or has to stop.";
  const commitSha = graph.commitSha ?? undefined;
  if (commitBuilt(build, commitSha) !== (commitSha ?? build.commitSha)) return "The file is of another commit.";
  return rules.planAccepted(null, graph.hash) === "accept" ? null : "The jobs of this build are known already.";
};

const accept = (held: ActiveBuild, request: PlanRequest, context: DecisionContext): Change[] => {
  const { build, job } = held;
  const { graph, text, agentId } = request;
  const several = newSeveral(context.now, true);
  const patch = {
    ...({ status: "queued", startedAt: null, message: null } as const),
    commitSha: commitBuilt(build, graph.commitSha ?? undefined),
    base: request.base ?? build.base ?? null,
    several,
  };
  return [
    ...addGraph(build.id, graph, text),
    ...patchBuild(build, patch, context),
    { kind: "job", job: { ...job, lease: null, notBefore: notBeforeOf(several) } },
    ...audit(agentActor(agentId), "build.plan", build.id, { agentId, jobs: graph.jobs.length }, context),
  ];
};

/** A build whose jobs find no room in the queue fails: they could wait for ever. */
const queueFull = (held: ActiveBuild, context: DecisionContext): Decision<PlannedJobs> => {
  const message = `${withCommas(context.maxQueued)} builds and jobs wait already: run it again when some of them have run.`;
  const failed = { status: "failed", exitCode: null, reason: "queue-full" } as const;
  return { ...refused("limit-reached", message), changes: endBuild(held, failed, message, context) };
};

/** The file has mistakes, or this build may not run it: the build has failed with them. */
export const refusePlan = (state: PoolState, request: PlanRefused, context: DecisionContext): Decision<string> => {
  if (!verifiedAgent(state, context, request)) return unknownToken();
  const ended = state.records.ended(request.buildId);
  const isItsLease = ended?.job.fence === request.fence && ended.job.agentId === request.agentId;
  if (isItsLease && ended.build.reason === request.reason) return decided(request.buildId);
  const held = buildOfCaller(state, request, context);
  if (isRefused(held)) return held;
  if (held.build.jobOf) return unknownId();
  if (held.build.status !== "running") return refused("conflict", "The build does not run.");
  const failed = { status: "failed", exitCode: null, reason: request.reason } as const;
  return decided(request.buildId, endBuild(held, failed, request.message, context));
};
