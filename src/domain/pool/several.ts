import { LIMITS } from "../../protocol/limits.ts";
import type { GraphJob, JobGraph } from "../jobs/graph.ts";
import type { JobNode } from "../jobs/node.ts";
import type { Planned } from "./commands.ts";
import type { Change, SeveralJobs } from "./facts.ts";
import type { PoolState } from "./state.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** What a build of several jobs begins with. */
export const newSeveral = (now: number, holdsPlace: boolean): SeveralJobs => ({
  until: now + LIMITS.buildDays * DAY_MS,
  holdsPlace,
  cancel: null,
});

/** No agent gets the build itself before this time: after a rollback the release before would hand it out. */
export const notBeforeOf = ({ until }: SeveralJobs): number => until;

/** The changes that store a graph with its jobs; those that an earlier build has done have ended already. */
export const addGraph = (
  buildId: string,
  graph: JobGraph,
  text: string,
  adopted: Planned["adopted"] = {},
): Change[] => [
  { kind: "graph", buildId, graph, text },
  ...graph.jobs.flatMap((job, index): Change[] => {
    const known = adopted[job.id];
    const node: Change = { kind: "node", node: newNode(buildId, job, index, known?.end ?? null) };
    const outputs = known?.outputs ?? {};
    return Object.keys(outputs).length === 0 ? [node] : [node, { kind: "outputs", buildId, jobId: job.id, outputs }];
  }),
];

const newNode = (buildId: string, { id }: GraphJob, index: number, end: JobNode["end"]): JobNode => ({
  ...{ id, buildId, index, readyAt: null, gate: null, stopCause: null },
  end,
});

/** Builds and jobs that wait, in the queue or for others. */
export const countWaiting = ({ queue, index }: PoolState): number => queue.size - queue.jobs + index.openJobs;
