import { keysAnew } from "../domain/jobs/rerun.ts";
import type { JobOfBuild } from "../protocol/build-job.ts";

/** How many jobs of an ended build a retry of the failed ones runs: the others are taken over. */
export const countToRetry = (jobs: JobOfBuild[]): number => {
  const byKey = new Map(jobs.map((job) => [job.key, job]));
  return keysAnew(jobs, (key) => byKey.get(key) ?? null).size;
};
