import type { GraphJob } from "../../src/domain/jobs/graph.ts";
import type { JobNode } from "../../src/domain/jobs/node.ts";
import type { BuildFacts } from "../../src/domain/pool/facts.ts";
import { CLEANING_MS, cleansUp, failuresThatReach, type JobsOfBuild, verdictOf } from "./job-specification.ts";
import type { CheckContext, ObservedSeveral } from "./observations.ts";

/** One job with all that the queue and its node say of it. */
export interface SeenJob {
  job: GraphJob;
  node: JobNode;
  /** What the queue has, or had. */
  queued: BuildFacts | undefined;
}

/** What the checks of one build look at. */
export interface SeenBuild extends JobsOfBuild {
  build: BuildFacts;
  seen: ObservedSeveral;
  jobs: SeenJob[];
}

/** It cleans up, and its needs let it. */
const isSpared = (one: SeenBuild, job: GraphJob): boolean =>
  cleansUp(job) && ["waits", "runs"].includes(verdictOf(one, job));

/** Whether anything ends this job before its time. What cleans up is spared by a cancel while there is time for it. */
export const mayStop = ({ call: { now }, observed }: CheckContext, one: SeenBuild, job: GraphJob): boolean =>
  (one.seen.cancel !== null && (now >= one.seen.cancel.until || !isSpared(one, job))) ||
  observed.canceledJobs.has(job.id) ||
  failuresThatReach(one, job).length > 0 ||
  (now >= one.build.several!.until && (now >= one.build.several!.until + CLEANING_MS || !isSpared(one, job))) ||
  one.seen.stopped.has(job.id) ||
  (job.concurrency !== null && [...observed.several.values()].some(({ cancelsRunning }) => cancelsRunning));
