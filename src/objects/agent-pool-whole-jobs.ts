import { failedJobs } from "../domain/jobs/failed-jobs.ts";
import type { JobFacts } from "../domain/pool/facts.ts";
import { toJobs } from "../domain/pool/job-records.ts";
import type { JobOfBuild } from "../protocol/build-job.ts";
import type { BuildJob } from "../protocol/job-record.ts";
import type { PoolStorage } from "./agent-pool-storage.ts";

/** The planned jobs of an ended build, each whole, as they are stored. */
export const wholeJobs = (storage: PoolStorage, buildId: string): BuildJob[] | null => {
  const plan = storage.jobRows.plan(buildId);
  if (!plan) return null;
  const rows = storage.jobRows.of(buildId);
  const jobs = toJobs(plan.graph, (id) => rows.get(id));
  return jobs.map((job) => toWholeJob(storage, buildId, job, rows.get(job.id)));
};

export const toWholeJob = (
  storage: PoolStorage,
  buildId: string,
  job: JobOfBuild,
  facts: JobFacts | undefined,
): BuildJob => {
  const { environment, steps, summary } = storage.report(job.id);
  return {
    ...{ ...job, buildId, environment, steps, summary },
    leak: facts?.leak ?? false,
    outputs: storage.outputs(job.id),
  };
};

/** Why the first job that failed did so, as its log says. */
export const failedLineOfJobs = (storage: PoolStorage, jobs: readonly JobOfBuild[]): string | null => {
  const [failed] = failedJobs(jobs);
  return (failed && storage.report(failed.id).failedLine) ?? null;
};
