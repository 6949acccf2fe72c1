import { getTableColumns } from "drizzle-orm";
import type { BuildRecord } from "../../archive/records.ts";
import type { BuildRow } from "../../db/projection.ts";
import { buildSummary } from "../../db/schema.ts";
import { branchOf, tagOf } from "../../domain/git-ref.ts";
import { Build, withDefaults } from "../../protocol/build.ts";
import { JobOfBuild } from "../../protocol/build-job.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import type { Context } from "../core/context.ts";
import { makeView } from "../core/verb.ts";

/** The columns of a build in lists. */
export const BUILD_COLUMNS = getTableColumns(buildSummary);

const toTimestamp = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/**
 * Returns a row's build. Leaves out the fields that only the build's own page shows, because only the archive has them.
 */
export const buildOfRow = (row: BuildRow): Build => {
  const { poolVersion, pull, tests, jobCounts, createdBy: by, ...fields } = row;
  const branch = branchOf(row.ref);
  return withDefaults({
    ...fields,
    createdBy: by && { kind: by.kind, id: by.id, name: by.name },
    trust: by?.trust ?? "trusted",
    approval: null,
    branch,
    tag: tagOf(branch),
    pull: pull === null ? null : { number: pull, base: null, branch, title: null, author: null },
    base: null,
    schedule: null,
    supersededBy: null,
    jobs: null,
    jobCounts,
    waitsFor: [],
    tests,
    environment: null,
    steps: [],
    summary: null,
    queuedAt: new Date(row.queuedAt).toISOString(),
    startedAt: toTimestamp(row.startedAt),
    finishedAt: toTimestamp(row.finishedAt),
  });
};

/** Returns the build as the API shows it, with its page's address. */
export const buildRecord = <B extends Build>(context: Context, build: B): B => ({
  ...withDefaults(build),
  webUrl: `${context.origin}/app/builds/${build.id}`,
});

/* Answers and records show only a build's planned jobs, never its first job. */

/** A job of a build. It has all its fields if the build has ended, or if it is the first job. */
export type ReadJob = JobOfBuild & Partial<BuildJob>;

/** A build with all its jobs, of which there is at least one. */
export interface ReadBuild extends BuildRecord {
  jobs: ReadJob[];
}

const FIRST_KEY = "build";

/** Creates the first job of a build from the build's fields. */
const firstJob = (build: BuildRecord): BuildJob => {
  const { id, status, agentId, attempt, exitCode, reason, message, queuedAt, startedAt, finishedAt } = build;
  const { tests, environment, steps, summary, leak } = build;
  return {
    id,
    buildId: id,
    key: FIRST_KEY,
    definition: FIRST_KEY,
    name: FIRST_KEY,
    matrix: null,
    needs: [],
    depth: 0,
    status,
    mayFail: false,
    cause: null,
    gate: null,
    agentId,
    attempt,
    exitCode,
    reason,
    message,
    queuedAt,
    startedAt,
    finishedAt,
    adoptedFrom: null,
    tests,
    environment,
    steps,
    summary,
    leak,
    outputs: {},
  };
};

export const withJobs = <B extends BuildRecord>(build: B): B & ReadBuild => ({
  ...build,
  jobs: build.jobs ?? [firstJob(build)],
});

type Jobs = Pick<ReadBuild, "id" | "jobs">;

/** Returns the first job, which the build's own page shows; undefined if planned jobs replaced the first job. */
export const ownJob = ({ id, jobs }: Jobs): BuildJob | undefined => jobs.find((job): job is BuildJob => job.id === id);

/** Returns the jobs that replaced the first one. */
export const plannedJobs = ({ id, jobs }: Jobs): ReadJob[] => jobs.filter((job) => job.id !== id);

/** Returns a planned job's key in its file; null for a first job. */
export const jobKeyOf = (build: { id: string }, job: { id: string; key: string }): string | null =>
  job.id === build.id ? null : job.key;

const viewOfBuild = makeView(Build);
const viewOfListed = makeView(JobOfBuild);

/** Returns the build as the API shows it. Its jobs lack the fields that only each job's own page shows. */
export const shownBuild = (build: ReadBuild): Build => {
  const planned = plannedJobs(build);
  return viewOfBuild({ ...build, jobs: planned.length > 0 ? planned.map(viewOfListed) : null });
};
