import type { JobGraph } from "../jobs/graph.ts";
import type { JobNode } from "../jobs/node.ts";
import type { PoolState } from "./state.ts";

/* Keeps graphs and nodes of builds of several jobs, and what derives from them. */

export const setGraph = (state: PoolState, buildId: string, graph: JobGraph): void => {
  state.graphs.set(buildId, { graph, nodes: new Map() });
  for (const { id } of graph.jobs) state.index.buildOfJob.set(id, buildId);
  unsettle(state, buildId);
};

export const setNode = (state: PoolState, node: JobNode): void => {
  const nodes = state.graphs.get(node.buildId)?.nodes;
  if (!nodes) return;
  const before = nodes.get(node.id);
  nodes.set(node.id, node);
  if (!node.end && !before) state.index.openJobs++;
  if (node.end && before && !before.end) state.index.openJobs--;
  if (node.gate && !node.gate.decision && !node.end) state.deadlines.gate.schedule(node.id, node.gate.until);
  unsettle(state, node.buildId);
};

/** Something changed of the build: what follows from that is settled in the same step. */
export const unsettle = (state: PoolState, buildId: string): void => {
  if (state.graphs.has(buildId)) state.unsettled.add(buildId);
};
