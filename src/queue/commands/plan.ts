import type { JobGraph } from "../../pipeline/graph/graph.ts";
import { withCommas } from "../../protocol/limits.ts";
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
} from "../state/decision.ts";
import type { BuildFacts, Change, HeldJob } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import type { PlanRefused, PlanRequest } from "./commands.ts";
import { commitBuilt } from "./found.ts";
import { endJob } from "./lease.ts";
import { addGraph, countWaiting, endOfPlanned } from "./new-jobs.ts";
import { isRefused, jobOfCaller } from "./work.ts";

/** The jobs of a build, by the keys of its file. */
export interface PlannedJobs {
  jobs: { id: string; key: string }[];
}

/** The agent that read the file of a build says which jobs it has. Its lease is over, and the jobs are there. */
export const plan = (state: PoolState, request: PlanRequest, context: DecisionContext): Decision<PlannedJobs> => {
  const { jobId, graph } = request;
  if (!verifiedAgent(state, request)) return unknownToken();
  const planned = state.builds.get(jobId);
  const known = state.graphs.get(jobId);
  if (planned && known) return planAgain(planned, known, request);
  const held = jobOfCaller(state, request, context);
  if (isRefused(held)) return held;
  const problem = planProblem(held, request);
  if (problem) return refused("conflict", problem);
  if (countWaiting(state) + graph.jobs.length > context.maxQueued) return queueFull(held, context);
  return decided({ jobs: namesOf(graph.jobs) }, accept(held, request, context));
};

const namesOf = (jobs: JobGraph["jobs"]): PlannedJobs["jobs"] => jobs.map(({ id, key }) => ({ id, key }));

/** The answer may have been lost: the same text, under the lease that it came with, gets it again. */
const planAgain = (
  { plannedBy }: BuildFacts,
  graph: JobGraph,
  { fence, agentId, graph: sent }: PlanRequest,
): Decision<PlannedJobs> => {
  if (plannedBy?.fence !== fence || plannedBy.agentId !== agentId) return leaseLost();
  return graph.hash === sent.hash
    ? decided({ jobs: namesOf(graph.jobs) })
    : refused("conflict", "The jobs of this build are known already, from another text.");
};

const planProblem = ({ build, job }: HeldJob, { graph }: PlanRequest): string | null => {
  if (build.until !== null) return "A job of a build has no jobs of its own.";
  if (job.status !== "running" || job.lease?.stop) return "The build does not run: it was not started, or has to stop.";
  const commitSha = graph.commitSha ?? undefined;
  return commitBuilt(build, commitSha) === (commitSha ?? build.commitSha) ? null : "The file is of another commit.";
};

const accept = ({ build, job }: HeldJob, request: PlanRequest, context: DecisionContext): Change[] => {
  const { graph, text, agentId, fence } = request;
  const patch: Partial<BuildFacts> = {
    ...{ status: "queued", startedAt: null, message: null, holdsPlace: true },
    commitSha: commitBuilt(build, graph.commitSha ?? undefined),
    base: request.base ?? build.base ?? null,
    plannedBy: { agentId, fence, attempt: job.attempt },
    until: endOfPlanned(context.now),
  };
  return [
    ...addGraph(build, { graph, text }),
    ...patchBuild(build, patch, context),
    ...audit(agentActor(agentId), "build.plan", build.id, { agentId, jobs: graph.jobs.length }, context),
  ];
};

/** A build whose jobs find no room in the queue fails: they could wait for ever. */
const queueFull = (held: HeldJob, context: DecisionContext): Decision<PlannedJobs> => {
  const message = `${withCommas(context.maxQueued)} builds and jobs wait already: run it again when some of them have run.`;
  const failed = { status: "failed", exitCode: null, reason: "queue-full" } as const;
  return { ...refused("limit-reached", message), changes: endJob(held, failed, message, context) };
};

/** The file has mistakes, or this build may not run it: the build has failed with them. */
export const refusePlan = (state: PoolState, request: PlanRefused, context: DecisionContext): Decision<string> => {
  if (!verifiedAgent(state, request)) return unknownToken();
  const { jobId, fence, agentId, reason, message } = request;
  const ended = state.records.endedJob(jobId)?.job;
  if (ended?.fence === fence && ended.agentId === agentId && ended.end?.reason === reason) return decided(jobId);
  const held = jobOfCaller(state, request, context);
  if (isRefused(held)) return held;
  if (held.build.until !== null) return unknownId();
  if (held.job.status !== "running") return refused("conflict", "The build does not run.");
  return decided(jobId, endJob(held, { status: "failed", exitCode: null, reason }, message, context));
};
