import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { DAY_MS } from "../../protocol/units.ts";
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
import type { BuildFacts, Change, JobEntry, JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { confined } from "../state/trust.ts";
import type { NewBuild, NewPlan, PlanRefused, PlanRequest } from "./commands.ts";
import { commitBuilt, endJob } from "./lease.ts";
import { isRefused, jobOfCaller } from "./work.ts";

/** A build's planned jobs, by their keys in its file. */
export interface PlannedJobs {
  jobs: { id: string; key: string }[];
}

/** Plans a build's jobs, which an agent read from the build's file. Ends the agent's lease and creates the jobs. */
export const plan = (state: PoolState, request: PlanRequest, context: DecisionContext): Decision<PlannedJobs> => {
  const { jobId, graph } = request;
  if (!verifiedAgent(state, request)) return unknownToken();
  const plannedBuild = state.builds.get(jobId);
  const existingGraph = state.graphs.get(jobId);
  if (plannedBuild && existingGraph) return planAgain(plannedBuild, existingGraph, request);
  const entry = jobOfCaller(state, request, context);
  if (isRefused(entry)) return entry;
  const problem = planProblem(entry, request);
  if (problem) return refused("conflict", problem);
  if (countWaiting(state) + graph.jobs.length > context.maxQueued) return queueFull(entry, context);
  return decided({ jobs: toPlannedJobs(graph.jobs) }, accept(entry, request, context));
};

const toPlannedJobs = (jobs: JobGraph["jobs"]): PlannedJobs["jobs"] => jobs.map(({ id, key }) => ({ id, key }));

/** If the same text arrives under the same lease, repeats the answer, which may have been lost. */
const planAgain = (
  { plannedBy }: BuildFacts,
  graph: JobGraph,
  { fence, agentId, graph: sent }: PlanRequest,
): Decision<PlannedJobs> => {
  if (plannedBy?.fence !== fence || plannedBy.agentId !== agentId) return leaseLost();
  return graph.hash === sent.hash
    ? decided({ jobs: toPlannedJobs(graph.jobs) })
    : refused("conflict", "This build was already planned from a different text.");
};

const planProblem = ({ build, job }: JobEntry, { graph }: PlanRequest): string | null => {
  if (build.until !== null) return "A job cannot have jobs of its own.";
  if (job.status !== "running" || job.lease?.stop) return "The build is not running: it was not started, or must stop.";
  const commitSha = graph.commitSha ?? undefined;
  return commitBuilt(build, commitSha) === (commitSha ?? build.commitSha)
    ? null
    : "The file belongs to a different commit.";
};

const accept = ({ build, job }: JobEntry, request: PlanRequest, context: DecisionContext): Change[] => {
  const { graph, text, agentId, fence } = request;
  const patch: Partial<BuildFacts> = {
    status: "queued",
    startedAt: null,
    message: null,
    holdsPlace: true,
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

/** Fails a build whose jobs find no room in the queue, because the jobs could wait forever. */
const queueFull = (entry: JobEntry, context: DecisionContext): Decision<PlannedJobs> => {
  const message = `${withCommas(context.maxQueued)} jobs are already waiting: retry the build when some of them have run.`;
  const failure = { status: "failed", exitCode: null, reason: "queue-full" } as const;
  return { ...refused("limit-reached", message), changes: endJob(entry, failure, message, context) };
};

/** Fails a build whose file has mistakes, or which may not run its file. */
export const refusePlan = (state: PoolState, request: PlanRefused, context: DecisionContext): Decision<string> => {
  if (!verifiedAgent(state, request)) return unknownToken();
  const { jobId, fence, agentId, reason, message } = request;
  const endedJob = state.records.endedJob(jobId)?.job;
  if (endedJob?.fence === fence && endedJob.agentId === agentId && endedJob.end?.reason === reason)
    return decided(jobId);
  const entry = jobOfCaller(state, request, context);
  if (isRefused(entry)) return entry;
  if (entry.build.until !== null) return unknownId();
  if (entry.job.status !== "running") return refused("conflict", "The build is not running.");
  return decided(jobId, endJob(entry, { status: "failed", exitCode: null, reason }, message, context));
};

/** Returns the time at which a build ends in any case if its jobs are planned now. */
export const endOfPlanned = (now: number): number => now + LIMITS.buildDays * DAY_MS;

const NEW = {
  seq: 0,
  queuedAt: null,
  startedAt: null,
  attempt: 0,
  unstarted: 0,
  releasedBy: [],
  notBefore: 0,
  lease: null,
  fence: 0,
  agentId: null,
  result: null,
} satisfies Partial<JobFacts>;

/** Creates a build's first job. It has the build's id, and planned jobs may replace it. */
export const firstJob = ({ timeoutSeconds }: NewBuild, build: BuildFacts): JobFacts => ({
  ...NEW,
  id: build.id,
  buildId: build.id,
  index: 0,
  seq: build.seq,
  status: "queued",
  queuedAt: build.queuedAt,
  requires: build.requires,
  timeoutSeconds,
  maxAttempts: build.maxAttempts,
});

/**
 * Returns the first job that planned jobs replaced. Its agent may still request it, because the answer may have been
 * lost.
 */
export const replacedJob = (build: BuildFacts): JobFacts | undefined =>
  build.plannedBy && {
    ...NEW,
    id: build.id,
    buildId: build.id,
    index: 0,
    status: "queued",
    requires: build.requires,
    timeoutSeconds: 0,
    maxAttempts: build.maxAttempts,
    ...build.plannedBy,
  };

/** Creates a job that waits for other jobs, from its definition in the file. */
export const plannedJob = (build: BuildFacts, job: GraphJob, index: number, { features = [] }: JobGraph): JobFacts => ({
  ...NEW,
  id: job.id,
  buildId: build.id,
  index,
  status: "waiting",
  requires: job.requires,
  timeoutSeconds: job.timeoutSeconds,
  maxAttempts: build.maxAttempts,
  features: ["jobs", ...features],
  ...(job.retry && { retry: job.retry }),
});

/**
 * Returns the changes that store a graph with its jobs. Jobs whose results the build adopts from an earlier build have
 * already ended.
 */
export const addGraph = (
  build: BuildFacts,
  { graph, text, adopted = {} }: Pick<NewPlan, "graph" | "text"> & Partial<NewPlan>,
): Change[] => [
  { kind: "graph", buildId: build.id, graph, text },
  ...graph.jobs.flatMap((job, index): Change[] => {
    const newJob = confined(plannedJob(build, job, index, graph), build);
    const adoptedJob = adopted[job.id];
    const endPatch = adoptedJob ? { status: adoptedJob.end.status, end: adoptedJob.end } : {};
    const jobChange: Change = { kind: "job", job: { ...newJob, ...endPatch } };
    const outputs = adoptedJob?.outputs ?? {};
    if (Object.keys(outputs).length === 0) return [jobChange];
    return [jobChange, { kind: "outputs", buildId: build.id, jobId: job.id, outputs }];
  }),
];

/** Returns the number of jobs that wait, in the queue or for other jobs. */
export const countWaiting = ({ queue, index }: PoolState): number => queue.size + index.waitingJobs;
