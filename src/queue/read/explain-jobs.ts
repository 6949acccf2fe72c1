import type { JobGraph } from "../../pipeline/graph/graph.ts";
import { type Explanation, sentence, type WaitCode } from "../../protocol/explain.ts";
import { type DecisionContext, findEntry } from "../state/decision.ts";
import type { BuildFacts, JobEntry, JobFacts } from "../state/facts.ts";
import { graphOf, jobsOf, type PoolState } from "../state/state.ts";
import { explain, type ReasonsByAgent, reasonsByAgent } from "./explain.ts";

type PingedAt = (agentId: string) => number;
type Waits = Pick<Explanation, "code" | "message" | "words">;

const say = (code: WaitCode, message: string): Waits => ({ code, ...sentence(message) });
const notQueued = { ahead: null, agents: [] };

const toEnded = (id: string, status: Explanation["status"], why: string | null | undefined): Explanation => ({
  buildId: id,
  status,
  ...notQueued,
  ...say("ended", `It has ended: ${status}${why ? ` (${why})` : ""}.`),
});

/** Explains an ended build. */
export const explainEnded = ({ id, status, reason }: BuildFacts): Explanation => toEnded(id, status, reason);

/** Explains why a job of an active build waits, or describes its state. */
export const explainJob = (
  state: PoolState,
  { id, end, buildId, status, index, gate }: JobFacts,
  context: DecisionContext,
  pingedAt: PingedAt,
): Explanation => {
  if (end) return toEnded(id, status, end.reason ?? end.cause?.job);
  const entry = findEntry(state, id);
  if (entry) return explain(state, entry, context, pingedAt);
  return { buildId: id, status, ...notQueued, ...explainWait(state, graphOf(state, buildId), index, gate) };
};

const explainWait = ({ jobs }: PoolState, graph: JobGraph, index: number, openGate: JobFacts["gate"]): Waits => {
  const { needs, gate } = graph.jobs[index]!;
  if (openGate) return say("gate", `A person with the role ${gate?.by ?? "maintainer"} must approve it.`);
  const needed = new Set(needs.map(({ definition }) => definition));
  const openJobs = graph.jobs.filter(({ id, definition }) => needed.has(definition) && !jobs.get(id)?.end);
  return say("needs", `It waits for ${openJobs.map(({ key }) => key).join(", ")} to end.`);
};

const entriesOfBuild = (state: PoolState, buildId: string): JobEntry[] =>
  jobsOf(state, buildId).flatMap(({ id }) => findEntry(state, id) ?? []);

const queuedAmong = (entries: JobEntry[]): JobEntry[] =>
  entries.filter(({ job }) => job.status === "queued").sort((one, other) => one.job.seq - other.job.seq);

/** Returns the first queued job of a build. */
const queuedJob = (state: PoolState, buildId: string): JobEntry | undefined =>
  queuedAmong(entriesOfBuild(state, buildId))[0];

/**
 * Explains why a build waits, for its gates or for its first queued job. If the build does not wait, says that the
 * build runs.
 */
export const explainBuild = (
  state: PoolState,
  { id: buildId, status }: BuildFacts,
  context: DecisionContext,
  pingedAt: PingedAt,
): Explanation => {
  const first = state.jobs.get(buildId);
  if (first) return explainJob(state, first, context, pingedAt);
  const { jobs } = graphOf(state, buildId);
  const entries = entriesOfBuild(state, buildId);
  const queuedEntries = queuedAmong(entries);
  if (entries.length > queuedEntries.length) {
    const endedCount = jobs.filter(({ id }) => state.jobs.get(id)?.end).length;
    const message = `${entries.length - queuedEntries.length} of its ${jobs.length} jobs run, and ${endedCount} have ended.`;
    return { buildId, status, ...say(status === "canceling" ? "canceling" : "running", message), ...notQueued };
  }
  const [next] = queuedEntries;
  if (next) return { ...explain(state, next, context, pingedAt), buildId, status };
  const askingJobs = jobs.filter(({ id }) => state.jobs.get(id)?.gate && !state.jobs.get(id)?.end);
  const keys = askingJobs.map(({ key }) => key).join(", ");
  const message = `${keys} ${askingJobs.length === 1 ? "waits" : "wait"} for approval.`;
  return { buildId, status, ...say("gate", message), ...notQueued };
};

/**
 * The number of distinct needs that the pool checks against all agents. The pool leaves out builds with further needs.
 */
const MOST_NEEDS = 10;

/** Returns the key of a job's needs. Jobs with the same key wait for the same agents. */
const needKey = ({ requires, features = [], releasedBy, passedOver }: JobFacts): string =>
  JSON.stringify([requires, features, releasedBy, passedOver ?? null]);

/** Explains in a sentence why each build waits, by build id. Covers only builds that are in the queue. */
export const explainEach = (
  state: PoolState,
  buildIds: readonly string[],
  context: DecisionContext,
  pingedAt: (agentId: string) => number,
): Map<string, string> => {
  const byNeed = new Map<string, ReasonsByAgent>();
  const messages = new Map<string, string>();
  for (const id of buildIds) {
    const entry = queuedJob(state, id);
    if (!entry) continue;
    const need = needKey(entry.job);
    if (!byNeed.has(need) && byNeed.size >= MOST_NEEDS) continue;
    const reasons = byNeed.get(need) ?? reasonsByAgent(state, entry.job, context, pingedAt);
    byNeed.set(need, reasons);
    messages.set(id, explain(state, entry, context, pingedAt, reasons).message);
  }
  return messages;
};
