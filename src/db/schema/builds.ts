import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, sqliteView, text } from "drizzle-orm/sqlite-core";
import type { Build, BuildEvent, BuildReason, Creator, JobCounts } from "../../protocol/build.ts";
import { ACTIVE, type BuildStatus } from "../../protocol/build-states.ts";
import type { TestSummary } from "../../protocol/test-report.ts";
import { quoted } from "../quoted.ts";

/** SQLite uses the index of active builds only for a query that repeats this text. */
export const isActiveBuild = sql.raw(`status IN (${quoted(ACTIVE)})`);

/**
 * What lists show of a build, and filter by, under the names of its fields. The pool writes it when the build is created
 * and when it has ended.
 */
const BUILD_SUMMARY = {
  orgId: text("org_id").notNull(),
  id: text().notNull(),
  number: integer().notNull(),
  repoId: text("repo_id").notNull(),
  pipelineId: text("pipeline_id"),
  /** The whole name: `refs/heads/main`. */
  ref: text().notNull(),
  commitSha: text("commit_sha"),
  event: text().$type<BuildEvent>().notNull(),
  trigger: text().$type<Build["trigger"]>().notNull(),
  /** The number of its pull request. */
  pull: integer("pull_number"),
  author: text(),
  /** The first line of the commit's message, at most 200 characters. */
  subject: text(),
  priority: integer().notNull(),
  retryOf: text("retry_of"),
  /** Of an untrusted build it says that too. */
  createdBy: text("created_by", { mode: "json" }).$type<Creator & { trust?: "untrusted" }>(),
  status: text().$type<BuildStatus>().notNull(),
  attempt: integer().notNull(),
  agentId: text("agent_id"),
  exitCode: integer("exit_code"),
  reason: text().$type<BuildReason>(),
  message: text(),
  /** The line of the log that says why the build failed, masked, at most 200 characters. */
  failedLine: text("failed_line"),
  tests: text({ mode: "json" }).$type<TestSummary>(),
  jobCounts: text("jobs", { mode: "json" }).$type<JobCounts>(),
  leak: integer({ mode: "boolean" }).notNull(),
  /** Times of builds are milliseconds since 1970: a third of the bytes of a text. */
  queuedAt: integer("queued_at").notNull(),
  startedAt: integer("started_at"),
  finishedAt: integer("finished_at"),
  /** The pool's version of the build: a write of an older version changes nothing. */
  poolVersion: integer("pool_version").notNull(),
};

/**
 * The builds that this release wrote. Has no rowid: it is stored in the order of its key, and each index ends with the
 * key. Read `buildList`, which has the builds of the release before too.
 */
export const buildSummary = sqliteTable("build_summary", BUILD_SUMMARY, (table) => [
  primaryKey({ columns: [table.orgId, table.id] }),
  index("build_summary_by_repo").on(table.orgId, table.repoId, table.id),
  index("build_summary_by_pipeline").on(table.orgId, table.pipelineId, table.id),
  index("build_summary_by_ref").on(table.orgId, table.ref, table.id),
  index("build_summary_by_commit").on(table.orgId, table.commitSha, table.id).where(sql`commit_sha IS NOT NULL`),
  index("build_summary_by_end").on(table.finishedAt).where(sql`finished_at IS NOT NULL`),
]);

/** The builds of the release before, with the columns of `buildSummary`. */
export const earlierBuild = sqliteView("earlier_build", BUILD_SUMMARY).existing();

/** All builds, those that the release before wrote included. */
export const buildList = sqliteView("build_list", BUILD_SUMMARY).existing();

/** Builds as the release before writes them. Upkeep moves the ended ones. Goes with the release after this one. */
export const build = sqliteTable(
  "build",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    repoId: text("repo_id").notNull(),
    pipelineId: text("pipeline_id"),
    branch: text().notNull(),
    status: text().notNull(),
    poolVersion: integer("pool_version").notNull(),
    record: text().notNull(),
    finishedAt: text("finished_at"),
  },
  (table) => [
    index("build_by_org").on(table.orgId, table.id),
    index("build_by_repo").on(table.orgId, table.repoId, table.id),
    index("build_by_pipeline").on(table.orgId, table.pipelineId, table.id),
    index("build_by_branch").on(table.orgId, table.branch, table.id),
    index("build_by_status").on(table.orgId, table.status, table.id),
    index("build_under_way").on(table.orgId).where(isActiveBuild),
    index("build_by_end").on(table.finishedAt),
  ],
);

/** One row for each job of a build with several jobs, written when the job ended: finds the job's build. */
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
