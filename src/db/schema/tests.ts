import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { TestFailure } from "../../protocol/test-report.ts";

/** Tests that failed, or failed and passed on the same commit: one row for each test of a job. */
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
