import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { JobEnd } from "../../pipeline/graph/job-end.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import { JOB_RULES, type JobRules } from "./rules.ts";

/** An ended build, with its jobs by id. */
interface EndedBuild {
  buildId: string;
  graph: JobGraph;
  jobs: Readonly<Record<string, { end: JobEnd | null; outputs: Record<string, string> }>>;
}

type Adopted = Record<string, { end: JobEnd; outputs: Record<string, string> }>;

/** A job, under the names by which its build's other jobs refer to it. */
interface NamedJob {
  key: string;
  definition: string;
  needs: readonly string[];
}

/** Returns the keys of the jobs that a retry reruns: unsuccessful jobs and all their dependents. */
export const keysToRerun = (
  jobs: readonly NamedJob[],
  endOf: (key: string) => { status: JobStatus } | null,
  rules: Pick<JobRules, "runsAnew"> = JOB_RULES,
): Set<string> => {
  const keys = new Set<string>();
  const definitions = new Set<string>();
  for (let size = -1; size < keys.size; ) {
    size = keys.size;
    for (const { key, definition, needs } of jobs) {
      const needsRunAnew = needs.some((need) => definitions.has(need));
      if (!rules.runsAnew(endOf(key), needsRunAnew)) continue;
      keys.add(key);
      definitions.add(definition);
    }
  }
  return keys;
};

const toNamedJob = ({ key, definition, needs }: GraphJob): NamedJob => ({
  key,
  definition,
  needs: needs.map((need) => need.definition),
});

/** Returns the results that a retry of the failed jobs adopts from the original build, by the new graph's job ids. */
export const planRerun = (old: EndedBuild, graph: JobGraph, rules: JobRules = JOB_RULES): Adopted => {
  const jobsBefore = new Map(old.graph.jobs.map(({ key, id }) => [key, { id, ...old.jobs[id] }]));
  const rerunKeys = keysToRerun(graph.jobs.map(toNamedJob), (key) => jobsBefore.get(key)?.end ?? null, rules);
  return Object.fromEntries(
    graph.jobs.flatMap(({ id, key }) => {
      const endedJob = jobsBefore.get(key);
      if (rerunKeys.has(key) || !endedJob?.end) return [];
      // Reports stay with the build that sent them.
      const { tests: _, ...end } = endedJob.end;
      const adoptedFrom = end.adopted ?? { buildId: old.buildId, jobId: endedJob.id, fence: end.fence };
      return [[id, { end: { ...end, adopted: adoptedFrom }, outputs: endedJob.outputs ?? {} }]];
    }),
  );
};
