import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Build, BuildEvent, BuildReason, Creator, JobCounts } from "../../protocol/build.ts";
import type { BuildStatus } from "../../protocol/build-states.ts";
import type { TestFailure, TestSummary } from "../../protocol/test-report.ts";

/**
 * The fields of a build that lists show and filter by, under their own names. The pool writes a row when the build is
 * created and again when it ends. The table has no rowid. Its rows are in the order of the key, and each index ends
 * with the key.
 */
export const buildSummary = sqliteTable(
  "build_summary",
  {
    orgId: text("org_id").notNull(),
    id: text().notNull(),
    number: integer().notNull(),
    repoId: text("repo_id").notNull(),
    pipelineId: text("pipeline_id"),
    /** The full name of the ref, such as `refs/heads/main`. */
    ref: text().notNull(),
    commitSha: text("commit_sha"),
    event: text().$type<BuildEvent>().notNull(),
    trigger: text().$type<Build["trigger"]>().notNull(),
    /** The number of the build's pull request. */
    pull: integer("pull_number"),
    author: text(),
    /** The first line of the commit message, at most 200 characters. */
    subject: text(),
    priority: integer().notNull(),
    retryOf: text("retry_of"),
    /** The creator of the build, and whether the build is untrusted. */
    createdBy: text("created_by", { mode: "json" }).$type<Creator & { trust?: "untrusted" }>(),
    status: text().$type<BuildStatus>().notNull(),
    attempt: integer().notNull(),
    agentId: text("agent_id"),
    exitCode: integer("exit_code"),
    reason: text().$type<BuildReason>(),
    message: text(),
    /** The log line that says why the build failed, masked, at most 200 characters. */
    failedLine: text("failed_line"),
    tests: text({ mode: "json" }).$type<TestSummary>(),
    jobCounts: text("jobs", { mode: "json" }).$type<JobCounts>(),
    leak: integer({ mode: "boolean" }).notNull(),
    /** Times of builds are milliseconds since 1970, a third of the size of a text. */
    queuedAt: integer("queued_at").notNull(),
    startedAt: integer("started_at"),
    finishedAt: integer("finished_at"),
    /** The pool's version of the build. A write with an older version changes nothing. */
    poolVersion: integer("pool_version").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("build_summary_by_repo").on(table.orgId, table.repoId, table.id),
    index("build_summary_by_pipeline").on(table.orgId, table.pipelineId, table.id),
    index("build_summary_by_ref").on(table.orgId, table.ref, table.id),
    index("build_summary_by_commit").on(table.orgId, table.commitSha, table.id).where(sql`commit_sha IS NOT NULL`),
    index("build_summary_by_end").on(table.finishedAt).where(sql`finished_at IS NOT NULL`),
  ],
);

/**
 * The rows of planned jobs. The pool writes one for each job when the job ends. From the row, the service finds the
 * job's build.
 */
export const job = sqliteTable(
  "job",
  {
    orgId: text("org_id").notNull(),
    id: text().notNull(),
    buildId: text("build_id").notNull(),
    finishedAt: integer("finished_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.orgId, table.id] }), index("job_by_end").on(table.finishedAt)],
);

/** Tests that failed, or that failed and passed on the same commit. Each test of a job has one row. */
export const testResult = sqliteTable(
  "test_result",
  {
    orgId: text("org_id").notNull(),
    repoId: text("repo_id").notNull(),
    pipelineId: text("pipeline_id"),
    testId: text("test_id").notNull(),
    buildId: text("build_id").notNull(),
    jobId: text("job_id").notNull(),
    jobKey: text("job_key"),
    suite: text().notNull(),
    className: text("class_name").notNull(),
    name: text().notNull(),
    file: text(),
    commitSha: text("commit_sha"),
    branch: text().notNull(),
    /** Milliseconds since 1970. */
    at: integer().notNull(),
    kind: text().$type<TestFailure["kind"]>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.jobId, table.testId] }),
    index("test_result_by_test").on(table.repoId, table.testId, table.at),
    index("test_result_by_commit").on(table.repoId, table.commitSha),
    index("test_result_flaky").on(table.repoId, table.at).where(sql`kind = 'flaky'`),
    index("test_result_by_time").on(table.at),
  ],
);

/**
 * One row for each pipeline with an ended build on the default branch or on a tag. Upkeep computes it from the rows of
 * builds. Has no rowid.
 */
export const pipelineHistory = sqliteTable(
  "pipeline_history",
  {
    orgId: text("org_id").notNull(),
    pipelineId: text("pipeline_id").notNull(),
    /** The ids of the newest and the oldest of `builds`; empty if there are no builds. */
    newest: text().notNull(),
    oldest: text().notNull(),
    isRed: integer("is_red", { mode: "boolean" }).notNull(),
    /** The builds in the format of `src/domain/history`. */
    builds: text().notNull(),
    days: text().notNull(),
    /** Milliseconds since 1970. `countedAt` is the last count, `recountedAt` the last count of all days. */
    countedAt: integer("counted_at").notNull(),
    recountedAt: integer("recounted_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.pipelineId] }),
    index("pipeline_history_by_newest").on(table.orgId, table.newest),
    index("pipeline_history_red").on(table.orgId, table.newest).where(sql`is_red = 1`),
  ],
);
