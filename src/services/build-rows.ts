import { getViewSelectedFields } from "drizzle-orm";
import { buildList, type buildSummary } from "../db/schema.ts";
import { branchOf, refOf, tagOf } from "../domain/git-ref.ts";
import type { Build, JobCounts } from "../protocol/build.ts";
import type { Context } from "./core/context.ts";

/** The columns of a build in lists. */
export const BUILD_COLUMNS = getViewSelectedFields(buildList);
export type BuildRow = typeof buildSummary.$inferSelect;

const timestampOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The build of a row: without what only its own page shows, which the archive has. */
export const buildOfRow = (row: BuildRow): Build => {
  const { poolVersion, pullNumber, tests, jobs, createdBy: by, ...fields } = row;
  const branch = branchOf(row.ref);
  return {
    ...fields,
    createdBy: by && { kind: by.kind, id: by.id, name: by.name },
    trust: by?.trust ?? "trusted",
    approval: null,
    branch,
    tag: tagOf(branch),
    pull: pullNumber === null ? null : { number: pullNumber, base: null, branch, title: null, author: null },
    base: null,
    schedule: null,
    supersededBy: null,
    jobs: null,
    // Rows of releases before 0.10.0 do not say which of the ended jobs succeeded.
    jobCounts: jobs && "stopped" in jobs ? (jobs as JobCounts) : null,
    waitsFor: [],
    tests: tests as Build["tests"],
    environment: null,
    steps: [],
    summary: null,
    queuedAt: new Date(row.queuedAt).toISOString(),
    startedAt: timestampOf(row.startedAt),
    finishedAt: timestampOf(row.finishedAt),
  };
};

/** The build as the API answers it: with the address of its page, and with fields that older pools and records lack. */
export const buildRecord = <B extends Build>(context: Context, build: B): B => ({
  ...build,
  ref: build.ref ?? refOf(build.branch),
  event: build.event ?? "api",
  trust: build.trust ?? "trusted",
  approval: build.approval ?? null,
  createdBy: build.createdBy ?? null,
  tag: build.tag ?? tagOf(build.branch),
  pull: build.pull ?? null,
  base: build.base ?? null,
  subject: build.subject ?? null,
  author: build.author ?? null,
  schedule: build.schedule ?? null,
  supersededBy: build.supersededBy ?? null,
  jobs: build.jobs ?? null,
  jobCounts: build.jobCounts ?? null,
  failedLine: build.failedLine ?? null,
  waitsFor: build.waitsFor ?? [],
  tests: build.tests ?? null,
  webUrl: `${context.origin}/app/builds/${build.id}`,
});
