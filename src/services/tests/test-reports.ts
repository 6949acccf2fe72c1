import { sql } from "drizzle-orm";
import * as z from "zod/mini";
import { dayOf } from "../../archive/keys.ts";
import { getTests, type KeptTests, putTests } from "../../archive/tests.ts";
import { contradictionIn, listTexts, withTexts } from "../../domain/reports/stored-report.ts";
import type { Build } from "../../protocol/build.ts";
import { PathId } from "../../protocol/common.ts";
import { encodeCursor } from "../../protocol/page.ts";
import {
  type ReportedTest,
  ReportedTests,
  type StoredTests,
  TestReport,
  TestReportTaken,
  TestsFilter,
} from "../../protocol/test-report.ts";
import { MIB } from "../../protocol/units.ts";
import { jobKeyOf } from "../builds/build-view.ts";
import { type FoundBuild, findBuildOrJobRecord, findRecord } from "../builds/builds.ts";
import type { Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { invalid, notFound, Refusal, settled } from "../core/refusal.ts";
import { Answer, verb } from "../core/verb.ts";
import { masked, readHolder } from "../jobs/jobs.ts";
import { failedBefore, failuresOnDefault } from "./flaky-tests.ts";

/** The share of failures above which the machine is at fault instead of the tests. */
const INFRASTRUCTURE_SHARE = 0.5;

/**
 * The maximum number of rows for each build. If more tests failed, the rows of the build's first jobs are enough to
 * show this. Each row costs five writes.
 */
const ROWS_OF_BUILD = 500;

/** An ended job, with its build. */
export interface EndedJob {
  id: string;
  key: string | null;
  build: Pick<Build, "id" | "repoId" | "pipelineId" | "commitSha" | "branch" | "trust">;
}

/**
 * Records which of a job's tests failed or were flaky. A test is flaky if it passed now and failed earlier on the same
 * commit. Ignores an untrusted build's results. The service can repeat the call.
 */
export const writeTestResults = async (context: Context, job: EndedJob, summary: StoredTests): Promise<void> => {
  if (!summary.hasNews || job.build.trust === "untrusted") return;
  const { db, orgId, now } = context;
  const { day, fence, counts } = summary;
  const report = await getTests(context.archive, { orgId, jobId: job.id, day, fence });
  if (!report) return;
  const { id: buildId, repoId, pipelineId, commitSha, branch } = job.build;
  const isInfrastructure = counts.failed > counts.total * INFRASTRUCTURE_SHARE;
  const rows = isInfrastructure ? [] : report.tests.filter(isNews).sort(byFlaky).map(toRow);
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
    ...(report.passed.length === 0 || commitSha === null
      ? []
      : [
          db.statement(sql`
            UPDATE test_result SET kind = 'flaky'
            WHERE repo_id = ${repoId} AND commit_sha = ${commitSha} AND org_id = ${orgId} AND build_id <> ${buildId}
              AND kind = 'failed' AND test_id IN (SELECT value FROM json_each(${JSON.stringify(report.passed)}))`),
        ]),
  ];
  const [first, ...others] = statements;
  if (first) await db.run(first, ...others);
};

const isNews = ({ outcome, isFlaky }: ReportedTest): boolean => outcome === "failed" || isFlaky;

/** Sorts flaky tests first, because they have a page. */
const byFlaky = (one: ReportedTest, other: ReportedTest): number => Number(other.isFlaky) - Number(one.isFlaky);

const toRow = ({ id, suite, className, name, file, isFlaky }: ReportedTest) => [
  id,
  suite,
  className,
  name,
  file,
  isFlaky ? "flaky" : "failed",
];

/**
 * Accepts a running job's test report. Masks and stores the report, and returns the tests that failed earlier on this
 * commit.
 */
export const reportTests = verb({
  access: { agent: true },
  params: PathId,
  body: ReportedTests,
  output: TestReportTaken,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const { counts, passed = [] } = body;
    const pool = context.objects.pool(context.orgId);
    // This check precedes all writes, because only an agent that holds the lease may write to the archive.
    const build = settled(await pool.heldBuild(holder));
    const contradiction = contradictionIn(body);
    if (contradiction !== null) throw invalid("/counts", contradiction);
    const texts = listTexts(body);
    const { tests, warnings } = withTexts(body, await masked(context, params.id, holder.fence, texts));
    const place = { orgId: context.orgId, jobId: params.id, day: dayOf(context.now.getTime()), fence: holder.fence };
    await reaching(putTests(context.archive, place, { counts, warnings, tests, passed }));
    const hasNews = counts.failed > 0 || counts.flaky > 0 || passed.length > 0;
    const summary = { counts, warnings: warnings.length, hasNews, day: place.day };
    settled(await pool.progress({ ...holder, tests: summary }));
    return { failedBefore: await failedBefore(context, build) };
  },
});

/** The number of reports to read at once. Each of them has about a mebibyte at most. */
const AT_ONCE = 4;
/** The characters of reports after which a page ends. A page has to fit into memory several times. */
const PAGE_TEXT = 3 * MIB;

/** A job with a test report. */
interface Tested {
  id: string;
  key: string | null;
  summary: StoredTests;
}

const testsInPool = async (context: Context, buildId: string): Promise<Record<string, StoredTests>> => {
  const inPool = await (await context.pool()).testsOf(buildId);
  return inPool.ok && inPool.value.buildId === buildId ? inPool.value.tests : {};
};

/** Returns the jobs of a build that have test reports, in their order, beginning after the job `after`. */
export const testedJobs = async (context: Context, build: FoundBuild, after?: string): Promise<Tested[]> => {
  const reports = build.testReports ?? (await testsInPool(context, build.id));
  const { jobs } = build;
  return jobs.slice(jobs.findIndex(({ id }) => id === after) + 1).flatMap((job) => {
    const summary = reports[job.id];
    return summary ? [{ id: job.id, key: jobKeyOf(build, job), summary }] : [];
  });
};

/** A report; null if it is no longer kept. */
type Read = KeptTests | null;

const readKept = ({ archive, orgId }: Context, { id: jobId, summary: { day, fence } }: Tested): Promise<Read> =>
  reaching(getTests(archive, { orgId, jobId, day, fence }));

const withFailures = (
  { id: jobId, key: jobKey }: Tested,
  report: KeptTests,
  failures: Map<string, number>,
): TestReport => {
  const tests = report.tests.map((test) => ({ ...test, failures: failures.get(test.id) ?? 0 }));
  return { jobId, jobKey, counts: report.counts, warnings: report.warnings, tests };
};

/**
 * Returns the test reports of the first of these jobs, as far as they fit into one page, with each test's recent
 * failures. A job's report is null if it is no longer kept.
 * @param isCounted whether to count the failures; otherwise the counts are 0, and D1 gets no query
 */
export const readPage = async (
  context: Context,
  { repoId }: Pick<Build, "repoId">,
  jobs: Tested[],
  isCounted = true,
): Promise<(TestReport | null)[]> => {
  const read: Read[] = [];
  for (let size = 0; size < PAGE_TEXT && read.length < jobs.length; ) {
    const next = jobs.slice(read.length, read.length + AT_ONCE);
    const page = await Promise.all(next.map((job) => readKept(context, job)));
    for (const report of page) size += JSON.stringify(report).length;
    read.push(...page);
  }
  const failing = new Set<string>();
  for (const report of read)
    for (const { id, outcome, isFlaky } of report?.tests ?? []) if (outcome === "failed" || isFlaky) failing.add(id);
  const failures = isCounted ? await failuresOnDefault(context, repoId, [...failing]) : new Map<string, number>();
  return read.map((report, index) => report && withFailures(jobs[index]!, report, failures));
};

/** Returns the reports of a page on which all reports must exist. @throws Refusal gone */
const readReports = async (
  context: Context,
  build: Pick<Build, "repoId">,
  jobs: Tested[],
  isCounted?: boolean,
): Promise<TestReport[]> => {
  const reports = await readPage(context, build, jobs, isCounted);
  return reports.map((report) => {
    if (report) return report;
    throw new Refusal("gone", "The report was deleted or has expired.");
  });
};

/** Lists the test reports of a build's jobs. */
export const listBuildTests = verb({
  access: { role: "viewer" },
  params: PathId,
  query: TestsFilter,
  output: z.array(TestReport),
  async run(context, { params, query: { limit, cursor } }) {
    const build = await findRecord(context, params.id);
    const jobs = await testedJobs(context, build, cursor);
    const reports = await readReports(context, build, jobs.slice(0, limit));
    const isLast = reports.length === jobs.length;
    return new Answer(reports, isLast ? {} : { nextCursor: encodeCursor(reports.at(-1)!.jobId) });
  },
});

/**
 * Returns these jobs' test reports, as far as they fit. Reports with failures come first, then reports with flaky
 * tests.
 */
export const readWorstReports = async (
  context: Context,
  build: FoundBuild,
  only: { id: string }[],
  { most, isCounted }: { most: number; isCounted: boolean },
): Promise<{ reports: TestReport[]; others: number }> => {
  const jobs = (await testedJobs(context, build)).filter(({ id }) => only.some((job) => job.id === id));
  const rankOf = ({ summary: { counts } }: Tested) => (counts.failed > 0 ? 2 : Math.sign(counts.flaky));
  jobs.sort((one, other) => rankOf(other) - rankOf(one));
  const reports = await readReports(context, build, jobs.slice(0, most), isCounted);
  return { reports, others: jobs.length - reports.length };
};

export const getJobTests = verb({
  access: { role: "viewer" },
  params: PathId,
  output: TestReport,
  async run(context, { params }) {
    const build = await findBuildOrJobRecord(context, params.id);
    const job = (await testedJobs(context, build)).find(({ id }) => id === params.id);
    if (!job) throw notFound();
    const [report] = await readReports(context, build, [job]);
    return report!;
  },
});
