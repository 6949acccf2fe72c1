import type { GraphJob } from "../../src/pipeline/graph/graph.ts";
import type { BuildFacts, JobFacts } from "../../src/queue/state/facts.ts";
import { CLEANING_MS, cleansUp, failuresThatReach, type JobsOfBuild, verdictOf } from "./job-specification.ts";
import type { CheckContext, ObservedBuild } from "./observations.ts";

/** One job as its file says it, and as it is stored. */
export interface SeenJob {
  job: GraphJob;
  facts: JobFacts;
  /** Whether the queue has, or had, it. */
  wasQueued: boolean;
}

/** What the checks of one build look at. */
export interface SeenBuild extends JobsOfBuild {
  build: BuildFacts;
  seen: ObservedBuild;
  jobs: SeenJob[];
}

/** It cleans up, and its needs let it. */
const isSpared = (one: SeenBuild, job: GraphJob): boolean =>
  cleansUp(job) && ["waits", "runs"].includes(verdictOf(one, job));

/** When a build has to end; never before its jobs are planned. */
export const timeOf = ({ until }: BuildFacts): number => until ?? Infinity;

/** Whether anything ends this job before its time. What cleans up is spared by a cancel while there is time for it. */
export const mayStop = ({ call: { now }, observed }: CheckContext, one: SeenBuild, job: GraphJob): boolean =>
  (one.seen.cancel !== null && (now >= one.seen.cancel.until || !isSpared(one, job))) ||
  observed.canceledJobs.has(job.id) ||
  failuresThatReach(one, job).length > 0 ||
  (now >= timeOf(one.build) && (now >= timeOf(one.build) + CLEANING_MS || !isSpared(one, job))) ||
  one.seen.stopped.has(job.id) ||
  (job.concurrency !== null && [...observed.builds.values()].some(({ cancelsRunning }) => cancelsRunning));
