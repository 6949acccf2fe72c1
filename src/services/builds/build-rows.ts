import { getTableColumns } from "drizzle-orm";
import type { BuildRow } from "../../db/projection.ts";
import { buildSummary } from "../../db/schema.ts";
import { branchOf, tagOf } from "../../domain/git-ref.ts";
import { type Build, withDefaults } from "../../protocol/build.ts";
import type { Context } from "../core/context.ts";

/** The columns of a build in lists. */
export const BUILD_COLUMNS = getTableColumns(buildSummary);

const timestampOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The build of a row: without what only its own page shows, which the archive has. */
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
    ...{ base: null, schedule: null, supersededBy: null, jobs: null },
    ...{ jobCounts, waitsFor: [], tests, environment: null, steps: [], summary: null },
    queuedAt: new Date(row.queuedAt).toISOString(),
    startedAt: timestampOf(row.startedAt),
    finishedAt: timestampOf(row.finishedAt),
  });
};

/** The build as the API answers it: with the address of its page. */
export const buildRecord = <B extends Build>(context: Context, build: B): B => ({
  ...withDefaults(build),
  webUrl: `${context.origin}/app/builds/${build.id}`,
});
