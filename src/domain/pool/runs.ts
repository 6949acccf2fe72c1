import type { AgentRun } from "../../protocol/agent-run.ts";
import type { PoolState } from "./state.ts";

const keyOf = ({ graphs }: PoolState, buildId: string, jobId: string): string | null => {
  const known = graphs.get(buildId);
  return known?.graph.jobs[known.nodes.get(jobId)?.index ?? -1]?.key ?? null;
};

/** What these agents run now. */
export const runsUnderWay = (state: PoolState, agentIds: readonly string[]): AgentRun[] =>
  agentIds.flatMap((agentId) => {
    const { index, builds, jobs } = state;
    const held = index.holding.get(agentId) ?? "";
    const [build, startedAt] = [builds.get(held), jobs.get(held)?.lease?.startedAt];
    if (!build || typeof startedAt !== "number") return [];
    const { number, pipelineId, status, jobOf } = build;
    const ids = jobOf
      ? { buildId: jobOf, jobId: held, jobKey: keyOf(state, jobOf, held) }
      : { buildId: held, jobId: null, jobKey: null };
    return [{ agentId, ...ids, number, pipelineId, status, startedAt, finishedAt: null }];
  });

/** Jobs of these agents that ended since then, of builds that have not. */
export const runsOfActiveBuilds = (state: PoolState, agentIds: readonly string[], since: number): AgentRun[] => {
  const wanted = new Set<string | null>(agentIds);
  const { graphs, builds } = state;
  return [...graphs].flatMap(([buildId, { nodes }]) =>
    [...nodes.values()].flatMap(({ id, end }): AgentRun[] => {
      const build = builds.get(buildId);
      if (!build || !end?.agentId || end.startedAt === null || end.adopted) return [];
      const { agentId, status, startedAt, finishedAt } = end;
      if (finishedAt <= since || !wanted.has(agentId)) return [];
      const { number, pipelineId } = build;
      const jobKey = keyOf(state, buildId, id);
      return [{ agentId, buildId, jobId: id, jobKey, number, pipelineId, status, startedAt, finishedAt }];
    }),
  );
};

/** Builds that have ended, and of which D1 has not heard that yet. */
export const endedUntold = ({ dirty, builds }: PoolState): string[] =>
  [...dirty.keys()].filter((id) => !builds.has(id));
