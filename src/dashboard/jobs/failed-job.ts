import type { Step } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import { getJob, stepsIn } from "../../services/build-jobs.ts";
import type { findRecord } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { type Failure, readFailure } from "../failure/read-failure.ts";
import { byId, nullIfNotFound } from "../verb-input.ts";

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
  const failed = (build.jobs ?? [])
    .filter(({ status, mayFail, adoptedFrom }) => status === "failed" && !mayFail && adoptedFrom === null)
    .sort((left, right) => Date.parse(left.finishedAt ?? "") - Date.parse(right.finishedAt ?? ""));
  const [first] = failed;
  if (!first) return null;
  const known = stepsIn(build).get(first.id) ?? (await nullIfNotFound(getJob.run(context, byId(first.id))))?.steps;
  const job = { ...first, steps: known ?? [] };
  const log = { ...job, orgId: context.orgId, isLogDeleted: build.isLogDeleted };
  return { job, failure: await readFailure(context, log), others: failed.length - 1 };
};
