import { sql } from "drizzle-orm";
import { getTests } from "../../archive/tests.ts";
import type { Build } from "../../protocol/build.ts";
import type { StoredTests } from "../../protocol/stored-tests.ts";
import type { ReportedTest } from "../../protocol/test-report.ts";
import type { Context } from "../core/context.ts";

/** Above this share of failures it is the machine that fails, and no test. */
const INFRASTRUCTURE_SHARE = 0.5;

/** Rows of one build: where more tests failed, those of its first jobs are enough to see that. Each costs five writes. */
const ROWS_OF_BUILD = 500;

/** The job that has ended, and its build. */
export interface EndedJob {
  id: string;
  key: string | null;
  build: Pick<Build, "id" | "repoId" | "pipelineId" | "commitSha" | "branch" | "trust">;
}

/**
 * Writes down which tests of a job failed or were flaky, and that those which failed on the same commit before, and
 * passed now, are flaky. What an untrusted build says of tests is no news. May be repeated.
 */
export const writeTestResults = async (context: Context, job: EndedJob, stored: StoredTests): Promise<void> => {
  if (!stored.hasNews || job.build.trust === "untrusted") return;
  const { db, orgId, now } = context;
  const { day, fence, counts } = stored;
  const kept = await getTests(context.archive, { orgId, jobId: job.id, day, fence });
  if (!kept) return;
  const { id: buildId, repoId, pipelineId, commitSha, branch } = job.build;
  const isInfrastructure = counts.failed > counts.total * INFRASTRUCTURE_SHARE;
  const rows = isInfrastructure ? [] : kept.tests.filter(isNews).sort(byFlaky).map(rowOf);
  const statements = [
    ...(rows.length === 0
      ? []
      : [
          db.statement(sql`
            INSERT OR IGNORE INTO test_result (org_id, repo_id, pipeline_id, build_id, job_id, job_key, commit_sha,
              branch, at, test_id, suite, class_name, name, file, kind)
            SELECT ${orgId}, ${repoId}, ${pipelineId}, ${buildId}, ${job.id}, ${job.key}, ${commitSha}, ${branch},
              ${now.getTime()}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5
            FROM json_each(${JSON.stringify(rows)})
            LIMIT max(0, ${ROWS_OF_BUILD} - (SELECT count(*) FROM test_result
              WHERE repo_id = ${repoId} AND commit_sha IS ${commitSha} AND build_id = ${buildId}
                AND org_id = ${orgId} AND job_id <> ${job.id}))`),
        ]),
    ...(kept.passed.length === 0 || commitSha === null
      ? []
      : [
          db.statement(sql`
            UPDATE test_result SET kind = 'flaky'
            WHERE repo_id = ${repoId} AND commit_sha = ${commitSha} AND org_id = ${orgId} AND build_id <> ${buildId}
              AND kind = 'failed' AND test_id IN (SELECT value FROM json_each(${JSON.stringify(kept.passed)}))`),
        ]),
  ];
  const [first, ...others] = statements;
  if (first) await db.run(first, ...others);
};

const isNews = ({ outcome, isFlaky }: ReportedTest): boolean => outcome === "failed" || isFlaky;

/** What is flaky has a page, so it goes first. */
const byFlaky = (left: ReportedTest, right: ReportedTest): number => Number(right.isFlaky) - Number(left.isFlaky);

const rowOf = ({ id, suite, className, name, file, isFlaky }: ReportedTest) => [
  ...[id, suite, className, name, file],
  isFlaky ? "flaky" : "failed",
];
