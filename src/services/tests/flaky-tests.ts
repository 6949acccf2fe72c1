import { and, desc, eq, ne, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { repository, testResult } from "../../db/schema.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import type { Build } from "../../protocol/build.ts";
import { PathId } from "../../protocol/common.ts";
import { LIMITS, PERIODS } from "../../protocol/limits.ts";
import { FlakyTest, PathTest, TestHistory } from "../../protocol/test-report.ts";
import { DAY_MS } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";
import { isOwn } from "../core/record.ts";
import { notFound } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";

/** The default branch of a repository whose record names no default branch. */
export const USUAL_BRANCH = "main";

/** Returns the time after which failures count as recent. */
const lately = ({ now }: Context): number => now.getTime() - PERIODS.flakyDays * DAY_MS;

/**
 * Returns the ids of tests that failed in other builds of the same commit, and have not passed on that commit since.
 */
export const failedBefore = async (
  { db, orgId }: Context,
  { id, repoId, commitSha }: Pick<Build, "id" | "repoId" | "commitSha">,
): Promise<string[]> => {
  if (commitSha === null) return [];
  const onCommit = and(eq(testResult.repoId, repoId), eq(testResult.commitSha, commitSha));
  const elsewhere = and(
    onCommit,
    eq(testResult.orgId, orgId),
    ne(testResult.buildId, id),
    eq(testResult.kind, "failed"),
  );
  const [rows] = await db.run(
    db.sql.selectDistinct({ testId: testResult.testId }).from(testResult).where(elsewhere).limit(LIMITS.countedTests),
  );
  return rows.map(({ testId }) => testId);
};

/** Counts the recent failures of each of these tests on its repository's default branch. */
export const failuresOnDefault = async (
  context: Context,
  repoId: string,
  testIds: string[],
): Promise<Map<string, number>> => {
  if (testIds.length === 0) return new Map();
  const { db, orgId } = context;
  const [{ results }] = await db.run(
    db.statement<{ testId: string; times: number }>(sql`
      SELECT test_id AS testId, count(*) AS times FROM test_result
      WHERE repo_id = ${repoId} AND org_id = ${orgId} AND at >= ${lately(context)}
        AND test_id IN (SELECT value FROM json_each(${JSON.stringify(testIds)}))
        AND branch = coalesce((SELECT default_branch FROM repository WHERE id = ${repoId}), ${USUAL_BRANCH})
      GROUP BY test_id`),
  );
  return new Map(results.map(({ testId, times }) => [testId, times]));
};

/** Builds of the default branch without a flaky result after which a test is no longer flaky. */
const QUIET_BUILDS = 5;

/** Returns the default branch's full name. */
const defaultRefOf = (repoId: string) => sql`(SELECT CASE WHEN default_branch LIKE 'refs/%' THEN default_branch
  ELSE 'refs/heads/' || coalesce(default_branch, ${USUAL_BRANCH}) END FROM repository WHERE id = ${repoId})`;

interface FlakyRow extends Omit<FlakyTest, "lastAt"> {
  lastAt: number;
}

/** Lists tests that recently failed and passed on one commit, the latest test first. */
export const listFlakyTests = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(FlakyTest),
  async run(context, { params }) {
    const { db, orgId } = context;
    const since = lately(context);
    const [[owner], { results }] = await db.run(
      db.sql
        .select({ id: repository.id })
        .from(repository)
        .where(isOwn(context, repository, params.id)),
      db.statement<FlakyRow>(sql`
        SELECT test_id AS id, suite, class_name AS className, name, file, job_key AS jobKey, count(*) AS times,
          max(at) AS lastAt, build_id AS lastBuildId
        FROM test_result
        WHERE repo_id = ${params.id} AND org_id = ${orgId} AND kind = 'flaky'
          AND at >= max(${since}, coalesce((
            SELECT started_at FROM build_summary
            WHERE org_id = ${orgId} AND ref = ${defaultRefOf(params.id)} AND repo_id = ${params.id}
              AND id >= ${firstIdAt(since)} AND tests IS NOT NULL AND finished_at IS NOT NULL
              AND json_extract(created_by, '$.trust') IS NULL
            ORDER BY id DESC LIMIT 1 OFFSET ${QUIET_BUILDS - 1}), 0))
        GROUP BY test_id ORDER BY lastAt DESC LIMIT ${LIMITS.flakyTests}`),
    );
    if (!owner) throw notFound();
    return results.map((row) => ({ ...row, lastAt: new Date(row.lastAt).toISOString() }));
  },
});

/** Returns a test's last failures. @throws Refusal not-found if no failure is known */
export const getTestHistory = verb({
  access: { role: "viewer" },
  params: PathTest,
  output: TestHistory,
  async run(context, { params: { id: repoId, testId } }) {
    const { db, orgId } = context;
    const isOfTest = and(eq(testResult.repoId, repoId), eq(testResult.testId, testId), eq(testResult.orgId, orgId));
    const [rows] = await db.run(
      db.sql.select().from(testResult).where(isOfTest).orderBy(desc(testResult.at)).limit(LIMITS.testFailures),
    );
    const [last] = rows;
    if (!last) throw notFound();
    const { suite, className, name, file } = last;
    const failures = rows.map(({ buildId, jobId, jobKey, branch, commitSha, at, kind }) => ({
      buildId,
      jobId,
      jobKey,
      branch,
      commitSha,
      kind,
      at: new Date(at).toISOString(),
    }));
    return { id: testId, suite, className, name, file, failures };
  },
});
