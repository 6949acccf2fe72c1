import type { GraphJob } from "../../src/pipeline/graph/graph.ts";
import type { BuildFacts, JobFacts } from "../../src/queue/state/facts.ts";
import { CLEANING_MS, cleansUp, failuresThatReach, type JobsOfBuild, verdictOf } from "./job-specification.ts";
import type { CheckContext, ObservedBuild } from "./observations.ts";

/** One job, as in its file and as stored. */
export interface SeenJob {
  job: GraphJob;
  facts: JobFacts;
  /** Whether it is, or was, in the queue. */
  wasQueued: boolean;
}

/** The facts for the checks of one build. */
export interface SeenBuild extends JobsOfBuild {
  build: BuildFacts;
  seen: ObservedBuild;
  jobs: SeenJob[];
}

/** Reports whether it cleans up, and its needs allow it. */
const isSpared = (one: SeenBuild, job: GraphJob): boolean =>
  cleansUp(job) && ["waits", "runs"].includes(verdictOf(one, job));

/** Returns when a build must end; never before its jobs are planned. */
export const timeOf = ({ until }: BuildFacts): number => until ?? Infinity;

/** Reports whether anything ends this job early. A cancel spares cleanup while there is time for it. */
export const mayStop = ({ call: { now }, observed }: CheckContext, one: SeenBuild, job: GraphJob): boolean =>
  (one.seen.cancel !== null && (now >= one.seen.cancel.until || !isSpared(one, job))) ||
  observed.canceledJobs.has(job.id) ||
  failuresThatReach(one, job).length > 0 ||
  (now >= timeOf(one.build) && (now >= timeOf(one.build) + CLEANING_MS || !isSpared(one, job))) ||
  one.seen.stopped.has(job.id) ||
  (job.concurrency !== null && [...observed.builds.values()].some(({ cancelsRunning }) => cancelsRunning));
