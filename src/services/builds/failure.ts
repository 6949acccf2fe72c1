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

/** Why a job failed, as its log says. */
export interface Failure {
  job: ReadJob & { steps: Step[] };
  /** The step that failed; null where none did, as for a checkout. */
  step: Step | null;
  excerpt: Excerpt | null;
  /** How many other jobs of its build failed too, where that was asked. */
  others: number;
}

/** What a failed job says of its failure. @param end of its log, where it is read already */
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

/** The same of the job of a build whose failure came first and counts; null where none failed. */
export const readFirstFailure = async (context: Context, build: FoundBuild): Promise<Failure | null> => {
  const [first, ...others] = failedJobs(build.jobs);
  return first ? { ...(await readFailure(context, build, first)), others: others.length } : null;
};
