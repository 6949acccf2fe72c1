import type { AgentRun } from "../../protocol/agent-run.ts";
import type { PoolState } from "./state.ts";

/** What these agents run now. */
export const runsUnderWay = ({ index, builds, jobs }: PoolState, agentIds: readonly string[]): AgentRun[] =>
  agentIds.flatMap((agentId) => {
    const held = index.holding.get(agentId) ?? "";
    const [build, startedAt] = [builds.get(held), jobs.get(held)?.lease?.startedAt];
    if (!build || typeof startedAt !== "number") return [];
    const { number, pipelineId, status, jobOf } = build;
    const ids = { buildId: jobOf ?? held, jobId: jobOf ? held : null };
    return [{ agentId, ...ids, number, pipelineId, status, startedAt, finishedAt: null }];
  });

/** Jobs of these agents that ended since then, of builds that have not. */
export const runsOfActiveBuilds = (
  { graphs, builds }: PoolState,
  agentIds: readonly string[],
  since: number,
): AgentRun[] => {
  const wanted = new Set<string | null>(agentIds);
  return [...graphs].flatMap(([buildId, { nodes }]) =>
    [...nodes.values()].flatMap(({ id, end }): AgentRun[] => {
      const build = builds.get(buildId);
      if (!build || !end?.agentId || end.startedAt === null || end.adopted) return [];
      const { agentId, status, startedAt, finishedAt } = end;
      if (finishedAt <= since || !wanted.has(agentId)) return [];
      const { number, pipelineId } = build;
      return [{ agentId, buildId, jobId: id, number, pipelineId, status, startedAt, finishedAt }];
    }),
  );
};

/** Builds that have ended, and of which D1 has not heard that yet. */
export const endedUntold = ({ dirty, builds }: PoolState): string[] =>
  [...dirty.keys()].filter((id) => !builds.has(id));
