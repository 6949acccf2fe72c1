import { type Excerpt, findExcerpt } from "../../domain/failure/error-lines.ts";
import type { Step } from "../../protocol/build.ts";
import { failedJobs } from "../../queue/read/job-records.ts";
import type { Context } from "../core/context.ts";
import { nullIfNotFound } from "../core/refusal.ts";
import { findJob } from "./build-jobs.ts";
import type { ReadJob } from "./build-view.ts";
import type { FoundBuild } from "./builds.ts";
import { type LogPart, readOutput } from "./step-output.ts";

export type { Excerpt } from "../../domain/failure/error-lines.ts";

/** Why a job failed, according to its log. */
export interface Failure {
  job: ReadJob & { steps: Step[] };
  /** The step that failed; null if no step failed, for example after a failed checkout. */
  step: Step | null;
  excerpt: Excerpt | null;
  /** The number of other jobs of its build that failed, if the caller requested this count. */
  others: number;
}

/** Reads the failure of a failed job. @param end the log's end, if the caller has already read it */
export const readFailure = async (
  context: Context,
  { orgId, isLogDeleted }: FoundBuild,
  failed: ReadJob,
  end: LogPart | null = null,
): Promise<Failure> => {
  const steps = failed.steps ?? (await nullIfNotFound(findJob(context, failed.id)))?.steps ?? [];
  const job = { ...failed, steps };
  const step = steps.find(({ status }) => status === "failed") ?? null;
  if (isLogDeleted || failed.attempt === 0) return { job, step, excerpt: null, others: 0 };
  const output = await readOutput(context, { ...job, orgId }, steps, step?.logOffset ?? 0, end);
  return { job, step, excerpt: findExcerpt(output), others: 0 };
};

/** Returns the first failure that counts in a build; null if no job failed. */
export const readFirstFailure = async (context: Context, build: FoundBuild): Promise<Failure | null> => {
  const [first, ...others] = failedJobs(build.jobs);
  return first ? { ...(await readFailure(context, build, first)), others: others.length } : null;
};
