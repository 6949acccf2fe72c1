import type { AgentRun } from "../../protocol/agent-run.ts";
import { heldJob } from "../state/decision.ts";
import { BUILD_CHANNELS, type JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";

/** Which job of which build it is. A first job is named by its build alone. */
const idsOf = ({ graphs }: PoolState, { id, buildId, index }: JobFacts) => ({
  buildId,
  jobId: id === buildId ? null : id,
  jobKey: graphs.get(buildId)?.jobs[index]?.key ?? null,
});

/** What these agents run now. */
export const runsUnderWay = (state: PoolState, agentIds: readonly string[]): AgentRun[] =>
  agentIds.flatMap((agentId): AgentRun[] => {
    const held = heldJob(state, state.index.holding.get(agentId) ?? "");
    const startedAt = held?.job.lease?.startedAt;
    if (!held || typeof startedAt !== "number") return [];
    const { build, job } = held;
    const { number, pipelineId } = build;
    const status = job.status as AgentRun["status"];
    return [{ agentId, ...idsOf(state, job), number, pipelineId, status, startedAt, finishedAt: null }];
  });

/** Jobs of these agents that ended since then, of builds that have not. */
export const runsOfActiveBuilds = (state: PoolState, agentIds: readonly string[], since: number): AgentRun[] => {
  const wanted = new Set<string | null>(agentIds);
  return [...state.jobs.values()].flatMap((job): AgentRun[] => {
    const { end } = job;
    const build = state.builds.get(job.buildId);
    if (!build || !end?.agentId || end.startedAt === null || end.adopted) return [];
    const { agentId, status, startedAt, finishedAt } = end;
    if (finishedAt <= since || !wanted.has(agentId)) return [];
    const { number, pipelineId } = build;
    return [{ agentId, ...idsOf(state, job), number, pipelineId, status, startedAt, finishedAt }];
  });
};

/** Builds that have ended, and of which somebody has not heard that yet: the columns of their rows do not say it. */
export const endedUnheard = ({ outbox, builds }: PoolState): string[] => {
  const due = new Set(BUILD_CHANNELS.flatMap((channel) => [...outbox[channel].due.keys()]));
  return [...due].filter((id) => !builds.has(id));
};
