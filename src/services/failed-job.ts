import { failedJobs } from "../domain/jobs/failed-jobs.ts";
import type { Step } from "../protocol/build.ts";
import type { JobOfBuild } from "../protocol/build-job.ts";
import { findJob, stepsIn } from "./build-jobs.ts";
import type { findRecord } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { nullIfNotFound } from "./core/refusal.ts";
import { type Failure, readFailure } from "./failure.ts";

/** The job that made its build fail, and why it failed. */
export interface FailedJob {
  job: JobOfBuild & { steps: Step[] };
  failure: Failure;
  /** How many others failed too. */
  others: number;
}

type Found = Awaited<ReturnType<typeof findRecord>>;

/** The job of a build whose failure came first and counts; null where none failed. */
export const readFailedJob = async (context: Context, build: Found): Promise<FailedJob | null> => {
  const failed = failedJobs(build.jobs ?? []);
  const [first] = failed;
  if (!first) return null;
  const known = stepsIn(build).get(first.id) ?? (await nullIfNotFound(findJob(context, first.id)))?.steps;
  const job = { ...first, steps: known ?? [] };
  const log = { ...job, orgId: context.orgId, isLogDeleted: build.isLogDeleted };
  return { job, failure: await readFailure(context, log), others: failed.length - 1 };
};
