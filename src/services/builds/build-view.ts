import type { BuildRecord } from "../../archive/records.ts";
import { Build } from "../../protocol/build.ts";
import { JobOfBuild } from "../../protocol/build-job.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import { viewOf } from "../core/verb.ts";

/* What answers and records say of the jobs of a build: only planned jobs, and nothing of its first job. */

/** A job of a build that was read. It is whole where the build has ended, or where it is the first job. */
export type ReadJob = JobOfBuild & Partial<BuildJob>;

/** A build with all its jobs: there is at least one. */
export interface ReadBuild extends BuildRecord {
  jobs: ReadJob[];
}

const FIRST_KEY = "build";

/** The first job of a build, made of what the build tells of it. */
const firstJob = (build: BuildRecord): BuildJob => {
  const { id, status, agentId, attempt, exitCode, reason, message, queuedAt, startedAt, finishedAt } = build;
  const { tests, environment, steps, summary, leak } = build;
  return {
    ...{ id, buildId: id, key: FIRST_KEY, definition: FIRST_KEY, name: FIRST_KEY, matrix: null, needs: [], depth: 0 },
    ...{ status, mayFail: false, cause: null, gate: null, agentId, attempt, exitCode, reason, message },
    ...{ queuedAt, startedAt, finishedAt, adoptedFrom: null, tests },
    ...{ environment, steps, summary, leak, outputs: {} },
  };
};

export const withJobs = <B extends BuildRecord>(build: B): B & ReadBuild => ({
  ...build,
  jobs: build.jobs ?? [firstJob(build)],
});

type Jobs = Pick<ReadBuild, "id" | "jobs">;

/** The first job, which its build's own page shows; undefined where planned jobs took its place. */
export const ownJob = ({ id, jobs }: Jobs): BuildJob | undefined => jobs.find((job): job is BuildJob => job.id === id);

/** The jobs that took the place of the first one. */
export const plannedJobs = ({ id, jobs }: Jobs): ReadJob[] => jobs.filter((job) => job.id !== id);

/** The key of a planned job in its file; null for a first job. */
export const jobKeyOf = (build: { id: string }, job: { id: string; key: string }): string | null =>
  job.id === build.id ? null : job.key;

const viewOfBuild = viewOf(Build);
const viewOfListed = viewOf(JobOfBuild);

/** The build as the API shows it, its jobs without what only each job's own page has. */
export const shownBuild = (build: ReadBuild): Build => {
  const planned = plannedJobs(build);
  return viewOfBuild({ ...build, jobs: planned.length > 0 ? planned.map(viewOfListed) : null });
};
