import type { Build } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import { testsOfJobs } from "../../queue/commands/tests.ts";
import { failedJobs } from "../../queue/jobs/failed-jobs.ts";
import { countsOfJobs } from "../../queue/jobs/job-counts.ts";
import { toJobs } from "../../queue/read/job-records.ts";
import type { JobFacts } from "../../queue/state/facts.ts";
import type { PoolStorage } from "./storage.ts";

/** An ended build with its planned jobs, each whole, as they are stored. */
export const withWholeJobs = (storage: PoolStorage, build: Build): Build => {
  const plan = storage.jobRows.plan(build.id);
  if (!plan) return build;
  const rows = storage.jobRows.of(build.id);
  const listed = toJobs(plan.graph, (id) => rows.get(id));
  const jobs = listed.map((job) => toWholeJob(storage, build.id, job, rows.get(job.id)));
  return { ...build, jobs, ...shownOfJobs(storage, build, jobs) };
};

/** What a build shows of its planned jobs together. */
export const shownOfJobs = (
  storage: PoolStorage,
  { status }: Build,
  jobs: readonly JobOfBuild[],
): Pick<Build, "jobCounts" | "failedLine" | "tests"> => ({
  jobCounts: countsOfJobs(jobs),
  failedLine: status === "failed" ? failedLineOfJobs(storage, jobs) : null,
  tests: testsOfJobs(jobs),
});

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
const failedLineOfJobs = (storage: PoolStorage, jobs: readonly JobOfBuild[]): string | null => {
  const [failed] = failedJobs(jobs);
  return (failed && storage.report(failed.id).failedLine) ?? null;
};
