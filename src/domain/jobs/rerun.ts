import type { JobGraph } from "./graph.ts";
import type { JobEnd } from "./node.ts";
import { JOB_RULES, type JobRules } from "./rules.ts";

/** A build that has ended, by its jobs' ids. */
export interface EndedBuild {
  buildId: string;
  graph: JobGraph;
  jobs: Readonly<Record<string, { end: JobEnd | null; outputs: Record<string, string> }>>;
}

type Adopted = Record<string, { end: JobEnd; outputs: Record<string, string> }>;

/** What a retry of the failed jobs takes over from the build that it repeats, by the job ids of the new graph. */
export const rerunOf = (old: EndedBuild, graph: JobGraph, rules: JobRules = JOB_RULES): Adopted => {
  const before = new Map(old.graph.jobs.map(({ key, id }) => [key, id]));
  const anew = new Set<string>();
  const adopted: [string, Adopted[string]][] = [];
  for (const { id, key, definition, needs } of graph.jobs) {
    const oldId = before.get(key);
    const known = oldId !== undefined && Object.hasOwn(old.jobs, oldId) ? old.jobs[oldId] : undefined;
    const end = known?.end ?? null;
    const runsAnew = rules.runsAnew(
      end,
      needs.some((need) => anew.has(need.definition)),
    );
    if (runsAnew || end === null) anew.add(definition);
    else {
      const from = end.adopted ?? { buildId: old.buildId, jobId: oldId!, fence: end.fence };
      adopted.push([id, { end: { ...end, adopted: from }, outputs: known!.outputs }]);
    }
  }
  return Object.fromEntries(adopted);
};
