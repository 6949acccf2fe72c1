import type { GraphJob, JobGraph } from "../../src/pipeline/graph/graph.ts";
import type { JobEnd } from "../../src/pipeline/graph/job-end.ts";
import type { JobFacts } from "../../src/queue/state/facts.ts";
import { type Condition, conditionOf } from "./conditions.ts";
import { DAY_MS } from "./specification.ts";

/* The fate of a build's jobs, written a second time, independently of the rules. */

export const CLEANING_MS = 5 * 60_000;
export const BUILD_MS = 30 * DAY_MS;
/** From least to most. */
const ROLES = ["viewer", "member", "maintainer", "admin"];

/** Transitions of a build. */
export const BUILD_TRANSITIONS: Record<string, readonly string[]> = {
  queued: ["assigned", "running", "canceling", "succeeded", "failed", "canceled"],
  assigned: ["queued", "running", "canceling", "succeeded", "failed", "canceled"],
  running: ["queued", "assigned", "canceling", "succeeded", "failed", "canceled"],
  canceling: ["canceled", "failed"],
};

export const mayDecide = (held: string, asked: string): boolean => ROLES.indexOf(held) >= ROLES.indexOf(asked);

/** One build with all facts about its jobs. */
export interface JobsOfBuild {
  graph: JobGraph;
  facts: ReadonlyMap<string, JobFacts>;
  outputs: ReadonlyMap<string, Record<string, string>>;
  isCanceled: boolean;
}

export const jobsNamed = ({ jobs }: JobGraph, definition: string): GraphJob[] =>
  jobs.filter((job) => job.definition === definition);

const ends = ({ graph, facts }: JobsOfBuild, definition: string): { job: GraphJob; end: JobEnd | null }[] =>
  jobsNamed(graph, definition).map((job) => ({ job, end: facts.get(job.id)!.end ?? null }));

/** Reports whether a need counts as successful, including a failed one that may fail. */
const isWell = ({ mayFail }: GraphJob, { status }: JobEnd): boolean =>
  status === "succeeded" || (status === "failed" && mayFail);

/** Reports whether a failure caused the end of the job: its own, or one of its needs. */
export const hasFailedBehind = (build: JobsOfBuild, job: GraphJob, { status }: JobEnd): boolean => {
  if (status === "failed") return !job.mayFail;
  if (status !== "dropped") return false;
  return job.needs.some((need) =>
    ends(build, need.definition).some((one) => one.end !== null && hasFailedBehind(build, one.job, one.end)),
  );
};

export const needsHaveEnded = (build: JobsOfBuild, job: GraphJob): boolean =>
  job.needs.every(({ definition }) => ends(build, definition).every(({ end }) => end !== null));

/** Reports whether a job may continue for a time after its build was canceled. */
export const cleansUp = ({ condition }: GraphJob): boolean => condition !== null && conditionOf(condition).cleansUp;

const holds = (build: JobsOfBuild, job: GraphJob, condition: Condition): boolean | null =>
  condition.holds({
    isCanceled: build.isCanceled,
    matrix: job.matrix,
    needs: job.needs.flatMap(({ definition }) =>
      ends(build, definition).map((one) => ({
        definition,
        status: one.end!.status,
        hasFailedBehind: hasFailedBehind(build, one.job, one.end!),
        outputs: build.outputs.get(one.job.id) ?? {},
      })),
    ),
  });

/** What must happen to a job, as far as its needs and its own `if` decide it. */
export type Verdict = "waits" | "runs" | "skipped" | "dropped" | "failed";

export const verdictOf = (build: JobsOfBuild, job: GraphJob): Verdict => {
  if (!needsHaveEnded(build, job)) return "waits";
  const condition = job.condition === null ? null : conditionOf(job.condition);
  if (!condition?.hasStatus) {
    const needed = job.needs.flatMap(({ definition, isOptional }) =>
      ends(build, definition).map((one) => ({ ...one, isOptional })),
    );
    const isSpared = (isOptional: boolean, { status }: JobEnd) => isOptional && status === "skipped";
    const bad = needed.filter(({ job: one, end, isOptional }) => !isWell(one, end!) && !isSpared(isOptional, end!));
    if (bad.some(({ end }) => end!.status !== "skipped")) return "dropped";
    if (bad.length > 0) return "skipped";
  }
  const answer = condition === null || holds(build, job, condition);
  return answer === null ? "failed" : answer ? "runs" : "skipped";
};

/** Returns the jobs whose failures end this job: in its matrix, or in its file if the job does not clean up. */
export const failuresThatReach = ({ graph, facts }: JobsOfBuild, job: GraphJob): GraphJob[] =>
  graph.jobs.filter((other) => {
    if (other.id === job.id || other.mayFail || facts.get(other.id)!.end?.status !== "failed") return false;
    return (graph.failFast && !cleansUp(job)) || (other.failFast && other.definition === job.definition);
  });
