import type { Build } from "../../protocol/build.ts";
import { findCanceler } from "../../services/builds/build-jobs.ts";
import { ownJob } from "../../services/builds/build-view.ts";
import { type FoundBuild, findRecord } from "../../services/builds/builds.ts";
import { type RefusedState, refusedStates } from "../../services/builds/refused-states.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { type JobDetails, readJob } from "../job/read-job.ts";
import { type JobsDetails, readJobs } from "../job/read-jobs.ts";
import { type Owners, readOwners } from "../parts/build-name.tsx";

export interface BuildDetails extends Owners {
  build: FoundBuild;
  now: Date;
  /** The build that took its place. */
  successor: Build | null;
  /** The build that this one runs again. */
  retried: Build | null;
  /** Who canceled it, where that is known. */
  canceler: string | null;
  /** What its git host did not take. */
  refused: RefusedState[];
  /** The job that the page shows in its place, or all those of its file. */
  body: JobDetails | JobsDetails;
}

/** What the page of a build shows. @throws Refusal not-found */
export const readBuild = async (context: Context, id: string | undefined): Promise<BuildDetails> => {
  const reading = findRecord(context, id ?? "");
  const readingOwners = readOwners(context, reading);
  const [build, owners] = await Promise.all([reading, readingOwners]);
  const own = ownJob(build);
  const [successor, retried, canceler, refused, body] = await Promise.all([
    build.supersededBy === null ? null : nullIfNotFound(findRecord(context, build.supersededBy)),
    build.retryOf === null ? null : nullIfNotFound(findRecord(context, build.retryOf)),
    build.status === "canceled" && build.reason !== "superseded" ? findCanceler(context, build) : null,
    owners.repository ? refusedStates(context, owners.repository, build) : [],
    own ? readJob(context, reading, readingOwners, own) : readJobs(context, build, owners),
  ]);
  return { build, now: context.now, ...owners, successor, retried, canceler, refused, body };
};
