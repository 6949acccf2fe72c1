import { isQueued } from "../../protocol/build-states.ts";
import { type Explanation, sentence, type WaitCode } from "../../protocol/explain.ts";
import type { GraphJob } from "../jobs/graph.ts";
import type { JobNode } from "../jobs/node.ts";
import type { DecisionContext } from "./decision.ts";
import { explain } from "./explain.ts";
import type { BuildFacts } from "./facts.ts";
import type { BuildGraph, PoolState } from "./state.ts";

type PingedAt = (agentId: string) => number;
type Waits = Pick<Explanation, "code" | "message" | "words">;

const say = (code: WaitCode, message: string): Waits => ({ code, ...sentence(message) });
const notQueued = { ahead: null, agents: [] };

/** Why a job of an active build of several waits, or its state; undefined where it is none. */
export const explainJob = (
  state: PoolState,
  jobId: string,
  context: DecisionContext,
  pingedAt: PingedAt,
): Explanation | undefined => {
  const parentId = state.index.buildOfJob.get(jobId);
  const known = parentId === undefined ? undefined : state.graphs.get(parentId);
  const graphJob = known?.graph.jobs.find(({ id }) => id === jobId);
  if (!known || !graphJob) return undefined;
  const [build, job] = [state.builds.get(jobId), state.jobs.get(jobId)];
  if (build && job) return explain(state, build, job, context, pingedAt);
  const node = known.nodes.get(jobId);
  if (!node || node.end) {
    const status = node?.end?.status ?? "failed";
    return { buildId: jobId, status, ...say("ended", `It has ended: ${status}${reasonOf(node)}.`), ...notQueued };
  }
  return { buildId: jobId, status: "waiting", ...waitOf(known, graphJob, node), ...notQueued };
};

const reasonOf = (node: JobNode | undefined): string => {
  const { reason, cause } = node?.end ?? {};
  if (reason) return ` (${reason})`;
  return cause?.job ? ` (${cause.job})` : "";
};

const waitOf = ({ graph, nodes }: BuildGraph, job: GraphJob, { gate }: JobNode): Waits => {
  if (gate) return say("gate", `A person with the role ${job.gate?.by ?? "maintainer"} has to approve it.`);
  const needed = new Set(job.needs.map(({ definition }) => definition));
  const open = graph.jobs.filter(({ id, definition }) => needed.has(definition) && !nodes.get(id)?.end);
  return say("needs", `It waits for the end of ${open.map(({ key }) => key).join(", ")}.`);
};

const heldJobs = (state: PoolState, { graph }: BuildGraph): BuildFacts[] =>
  graph.jobs.flatMap(({ id }) => state.builds.get(id) ?? []);

const queuedOf = (jobs: BuildFacts[]): BuildFacts[] =>
  jobs.filter(({ status }) => isQueued(status)).sort((left, right) => left.seq - right.seq);

/** The job in the queue for which a build waits: its own, or the first of several. */
export const queuedJob = (state: PoolState, buildId: string): BuildFacts | undefined => {
  const graph = state.graphs.get(buildId);
  const build = state.builds.get(buildId);
  return queuedOf(graph ? heldJobs(state, graph) : build ? [build] : [])[0];
};

/** Why a build of several jobs waits: its gates, or the first of its jobs in the queue; or that it runs. */
export const explainSeveral = (
  state: PoolState,
  buildId: string,
  context: DecisionContext,
  pingedAt: PingedAt,
): Explanation | undefined => {
  const known = state.graphs.get(buildId);
  const build = state.builds.get(buildId);
  if (!known || !build) return undefined;
  const { status } = build;
  const held = heldJobs(state, known);
  const queued = queuedOf(held);
  if (held.length > queued.length) {
    const ended = [...known.nodes.values()].filter(({ end }) => end).length;
    const message = `${held.length - queued.length} of its ${known.nodes.size} jobs run, and ${ended} have ended.`;
    return { buildId, status, ...say(status === "canceling" ? "canceling" : "running", message), ...notQueued };
  }
  const [first] = queued;
  if (first) return { ...explain(state, first, state.jobs.get(first.id)!, context, pingedAt), buildId, status };
  const asking = known.graph.jobs.filter(({ id }) => known.nodes.get(id)?.gate && !known.nodes.get(id)?.end);
  const keys = asking.map(({ key }) => key).join(", ");
  return {
    buildId,
    status,
    ...say("gate", `${keys} ${asking.length === 1 ? "waits" : "wait"} for approval.`),
    ...notQueued,
  };
};
