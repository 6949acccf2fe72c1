import { and, eq, gte, ne, sql } from "drizzle-orm";
import { repository, testResult } from "../../db/schema.ts";
import type { Build } from "../../protocol/build.ts";
import { LIMITS, PERIODS } from "../../protocol/limits.ts";
import { DAY_MS } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";

/** Where a repository names no default branch. */
export const USUAL_BRANCH = "main";

/** Since when failures count as those of late. */
export const lately = ({ now }: Context): number => now.getTime() - PERIODS.flakyDays * DAY_MS;

const defaultBranchOf = sql`coalesce((SELECT ${repository.defaultBranch} FROM ${repository}
  WHERE ${repository.id} = ${testResult.repoId}), ${USUAL_BRANCH})`;

/** Ids of tests that failed in other builds of the same commit, and did not pass on it since. */
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

/** How often each of these tests failed lately on the default branch of its repository. */
export const failuresOnDefault = async (
  context: Context,
  repoId: string,
  testIds: string[],
): Promise<Map<string, number>> => {
  if (testIds.length === 0) return new Map();
  const { db, orgId } = context;
  const wanted = sql`${testResult.testId} IN (SELECT value FROM json_each(${JSON.stringify(testIds)}))`;
  const [rows] = await db.run(
    db.sql
      .select({ testId: testResult.testId, times: sql<number>`count(*)` })
      .from(testResult)
      .where(
        and(
          ...[eq(testResult.repoId, repoId), eq(testResult.orgId, orgId), wanted],
          ...[gte(testResult.at, lately(context)), eq(testResult.branch, defaultBranchOf)],
        ),
      )
      .groupBy(testResult.testId),
  );
  return new Map(rows.map(({ testId, times }) => [testId, times]));
};
