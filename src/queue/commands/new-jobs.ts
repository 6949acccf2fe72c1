import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { BuildFacts, Change, JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import type { NewBuild, NewPlan } from "./commands.ts";
import { confined } from "./confine.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** When a build ends in any case whose jobs are planned now. */
export const endOfPlanned = (now: number): number => now + LIMITS.buildDays * DAY_MS;

const NEW = {
  ...{ seq: 0, queuedAt: null, startedAt: null, attempt: 0, unstarted: 0, releasedBy: [], notBefore: 0 },
  ...{ lease: null, fence: 0, agentId: null, result: null },
} satisfies Partial<JobFacts>;

/** The job that a build begins with. It has the build's id, and planned jobs may take its place. */
export const firstJob = ({ timeoutSeconds }: NewBuild, build: BuildFacts): JobFacts => ({
  ...NEW,
  ...{ id: build.id, buildId: build.id, index: 0, seq: build.seq, status: "queued", queuedAt: build.queuedAt },
  ...{ requires: build.requires, timeoutSeconds, maxAttempts: build.maxAttempts },
});

/** The first job as its agent may still ask for it, once planned jobs took its place: the answer may have been lost. */
export const replacedJob = (build: BuildFacts): JobFacts | undefined =>
  build.plannedBy && {
    ...NEW,
    ...{ id: build.id, buildId: build.id, index: 0, status: "queued", requires: build.requires, timeoutSeconds: 0 },
    ...{ maxAttempts: build.maxAttempts, ...build.plannedBy },
  };

/** A job that waits for others, as its file says it. */
export const plannedJob = (build: BuildFacts, job: GraphJob, index: number, { features = [] }: JobGraph): JobFacts => ({
  ...NEW,
  ...{ id: job.id, buildId: build.id, index, status: "waiting" },
  ...{ requires: job.requires, timeoutSeconds: job.timeoutSeconds, maxAttempts: build.maxAttempts },
  features: ["jobs", ...features],
  ...(job.retry && { retry: job.retry }),
});

/** The changes that store a graph with its jobs; those that an earlier build has done have ended already. */
export const addGraph = (
  build: BuildFacts,
  { graph, text, adopted = {} }: Pick<NewPlan, "graph" | "text"> & Partial<NewPlan>,
): Change[] => [
  { kind: "graph", buildId: build.id, graph, text },
  ...graph.jobs.flatMap((job, index): Change[] => {
    const planned = confined(plannedJob(build, job, index, graph), build);
    const known = adopted[job.id];
    const ended = known ? { status: known.end.status, end: known.end } : {};
    const added: Change = { kind: "job", job: { ...planned, ...ended } };
    const outputs = known?.outputs ?? {};
    if (Object.keys(outputs).length === 0) return [added];
    return [added, { kind: "outputs", buildId: build.id, jobId: job.id, outputs }];
  }),
];

/** Jobs that wait, in the queue or for others. */
export const countWaiting = ({ queue, index }: PoolState): number => queue.size + index.waitingJobs;
