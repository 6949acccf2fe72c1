import { and, desc, eq, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { repository, testResult } from "../db/schema.ts";
import { refOf } from "../domain/git-ref.ts";
import { firstIdAt } from "../domain/id-range.ts";
import { PathId } from "../protocol/common.ts";
import { LIMITS } from "../protocol/limits.ts";
import { FlakyTest, PathTest, TestHistory } from "../protocol/test-report.ts";
import type { Context } from "./core/context.ts";
import { isOwn } from "./core/record.ts";
import { notFound } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { lately, USUAL_BRANCH } from "./test-history.ts";

/** A test is not flaky any more after so many builds of the default branch in which it was not. */
const QUIET_BUILDS = 5;

/** The repository's default branch. @throws Refusal not-found */
const defaultBranchOf = async (context: Context, repoId: string): Promise<string> => {
  const { db } = context;
  const [[found]] = await db.run(
    db.sql
      .select({ branch: repository.defaultBranch })
      .from(repository)
      .where(isOwn(context, repository, repoId)),
  );
  if (!found) throw notFound();
  return found.branch ?? USUAL_BRANCH;
};

interface FlakyRow extends Omit<FlakyTest, "lastAt"> {
  lastAt: number;
}

/** Tests that failed and passed on one commit lately, the last one first. */
export const listFlakyTests = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(FlakyTest),
  async run(context, { params }) {
    const { db, orgId } = context;
    const ref = refOf(await defaultBranchOf(context, params.id));
    const since = lately(context);
    const [{ results }] = await db.run(
      db.statement<FlakyRow>(sql`
        WITH quiet (since) AS (
          SELECT started_at FROM build_summary
          WHERE org_id = ${orgId} AND ref = ${ref} AND repo_id = ${params.id} AND id >= ${firstIdAt(since)}
            AND tests IS NOT NULL AND finished_at IS NOT NULL
          ORDER BY id DESC LIMIT 1 OFFSET ${QUIET_BUILDS - 1})
        SELECT test_id AS id, suite, class_name AS className, name, file, job_key AS jobKey, count(*) AS times,
          max(at) AS lastAt, build_id AS lastBuildId
        FROM test_result
        WHERE repo_id = ${params.id} AND org_id = ${orgId} AND kind = 'flaky'
          AND at >= max(${since}, coalesce((SELECT since FROM quiet), 0))
        GROUP BY test_id ORDER BY lastAt DESC LIMIT ${LIMITS.flakyTests}`),
    );
    return results.map((row) => ({ ...row, lastAt: new Date(row.lastAt).toISOString() }));
  },
});

/** The last failures of a test. @throws Refusal not-found where none is known */
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
      ...{ buildId, jobId, jobKey, branch, commitSha, kind },
      at: new Date(at).toISOString(),
    }));
    return { id: testId, suite, className, name, file, failures };
  },
});
