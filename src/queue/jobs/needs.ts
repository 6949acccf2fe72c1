import type { JobGraph } from "../../pipeline/graph/graph.ts";
import type { JobEndStatus } from "../../pipeline/graph/job-end.ts";
import type { Needs } from "../../protocol/jobs.ts";
import type { JobFacts } from "../state/facts.ts";

type NeededJob = Needs[string];
type Result = NeededJob["result"];

const OUTCOMES: Record<JobEndStatus, Result> = {
  succeeded: "success",
  failed: "failure",
  canceled: "cancelled",
  skipped: "skipped",
  dropped: "dropped",
};

/** Results from the worst on. If a need has several combinations, their worst result counts. */
const FROM_WORST: readonly Result[] = ["failure", "cancelled", "dropped", "skipped"];
const worst = (results: readonly Result[]): Result => FROM_WORST.find((one) => results.includes(one)) ?? "success";

/**
 * Returns the needs of this job, all of which have ended, as a hand-out and a condition see them. Calls `outputs` only
 * for jobs that succeeded.
 */
export const needsFrom = (
  graph: JobGraph,
  jobId: string,
  endOf: (jobId: string) => JobEndStatus | null,
  outputs: (jobId: string) => Record<string, string>,
): Needs => {
  const needs = graph.jobs.find(({ id }) => id === jobId)?.needs ?? [];
  const toNeededJob = (definition: string): NeededJob => {
    const jobs = graph.jobs
      .filter((job) => job.definition === definition)
      .map(({ id, matrix, mayFail }) => {
        const status = endOf(id);
        const outcome = status === null ? "dropped" : OUTCOMES[status];
        const result = outcome === "failure" && mayFail ? "success" : outcome;
        return { matrix, result, outcome, outputs: status === "succeeded" ? outputs(id) : {} };
      });
    return {
      result: worst(jobs.map(({ result }) => result)),
      outcome: worst(jobs.map(({ outcome }) => outcome)),
      outputs: jobs.length === 1 ? jobs[0]!.outputs : null,
      jobs,
    };
  };
  return Object.fromEntries(needs.map(({ definition }) => [definition, toNeededJob(definition)]));
};

/** Like `needsFrom`, returns a job's needs, but reads the ends from the build's jobs. */
export const readNeeds = (
  graph: JobGraph,
  jobs: ReadonlyMap<string, JobFacts>,
  jobId: string,
  outputs: (jobId: string) => Record<string, string>,
): Needs => needsFrom(graph, jobId, (id) => jobs.get(id)?.end?.status ?? null, outputs);
