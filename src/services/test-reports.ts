import * as z from "zod/mini";
import { dayOf } from "../archive/keys.ts";
import { getTests, type KeptTests, putTests } from "../archive/tests.ts";
import { contradictionIn } from "../domain/reports/contradictions.ts";
import { textsOf, withTexts } from "../domain/reports/report-texts.ts";
import type { Build } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import type { StoredTests } from "../protocol/stored-tests.ts";
import { ReportedTests, TestReport, TestReportTaken } from "../protocol/test-report.ts";
import { findJob } from "./build-jobs.ts";
import { findRecord } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { reaching } from "./core/outage.ts";
import { invalid, notFound, nullIfNotFound, Refusal, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { holderOf, masked } from "./jobs.ts";
import { failedBefore, failuresOnDefault } from "./test-history.ts";

/** What the tests of the held job say. Masks it, keeps it, and answers which of all tests failed on this commit before. */
export const reportTests = verb({
  access: { agent: true },
  params: PathId,
  body: ReportedTests,
  output: TestReportTaken,
  async run(context, { params, body }) {
    const holder = await holderOf(context, params.id);
    const { counts, passed = [] } = body;
    const pool = context.objects.pool(context.orgId);
    // Before anything is written: the archive is for an agent that holds the lease alone.
    const build = settled(await pool.heldBuild(holder));
    const contradiction = contradictionIn(body);
    if (contradiction !== null) throw invalid("/counts", contradiction);
    const texts = textsOf(body);
    const { tests, warnings } = withTexts(body, await masked(context, params.id, holder.fence, texts));
    const place = { orgId: context.orgId, jobId: params.id, day: dayOf(context.now.getTime()), fence: holder.fence };
    await reaching(putTests(context.archive, place, { counts, warnings, tests, passed }));
    const hasNews = counts.failed > 0 || counts.flaky > 0 || passed.length > 0;
    const told = { counts, warnings: warnings.length, hasNews, day: place.day };
    settled(await pool.progress({ ...holder, tests: told }));
    return { failedBefore: await failedBefore(context, build) };
  },
});

/** Jobs whose reports are in memory at once: each may have a mebibyte. */
export const REPORTS_AT_ONCE = 10;

type Found = Awaited<ReturnType<typeof findRecord>>;

/** A job whose tests said something. */
interface Tested {
  id: string;
  key: string | null;
  stored: StoredTests;
}

/** The jobs of a build whose tests said something, in their order; of a build of one job, the build. */
export const testedJobs = async (context: Context, build: Found): Promise<Tested[]> => {
  const inPool = await (await context.pool()).testsOf(build.id);
  const isInPool = inPool.ok && inPool.value.buildId === build.id;
  const reports = (isInPool ? inPool.value.tests : build.testReports) ?? {};
  const jobs = build.jobs ?? [{ id: build.id, key: null }];
  return jobs.flatMap(({ id, key }) => {
    const stored = reports[id];
    return stored ? [{ id, key, stored }] : [];
  });
};

const readKept = async (context: Context, { id: jobId, stored: { day, fence } }: Tested): Promise<KeptTests> => {
  const kept = await reaching(getTests(context.archive, { orgId: context.orgId, jobId, day, fence }));
  if (!kept) throw new Refusal("gone", "This report was deleted, or the days for which it was kept are over.");
  return kept;
};

/** What the tests of these jobs said, with how often each failed lately. @throws Refusal gone */
export const readReports = async (
  context: Context,
  { repoId }: Pick<Build, "repoId">,
  jobs: Tested[],
): Promise<TestReport[]> => {
  const found = await Promise.all(jobs.map((job) => readKept(context, job)));
  const failing = found.flatMap(({ tests }) => tests.filter(({ outcome, isFlaky }) => outcome === "failed" || isFlaky));
  const ids = [...new Set(failing.map(({ id }) => id))];
  const failures = await failuresOnDefault(context, repoId, ids);
  return found.map(({ counts, warnings, tests }, index) => {
    const { id: jobId, key: jobKey } = jobs[index]!;
    return {
      jobId,
      jobKey,
      counts,
      warnings,
      tests: tests.map((test) => ({ ...test, failures: failures.get(test.id) ?? 0 })),
    };
  });
};

/** Of a build of one job its own, of several jobs those of each; without jobs that said nothing. */
export const listBuildTests = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(TestReport),
  async run(context, { params }) {
    const build = await findRecord(context, params.id);
    const jobs = await testedJobs(context, build);
    const reports: TestReport[] = [];
    for (let from = 0; from < jobs.length; from += REPORTS_AT_ONCE)
      reports.push(...(await readReports(context, build, jobs.slice(from, from + REPORTS_AT_ONCE))));
    return reports;
  },
});

/** What the tests said of the jobs where they failed, or else were flaky, before those of others. */
export const readWorstReports = async (
  context: Context,
  build: Found,
  most: number,
): Promise<{ reports: TestReport[]; others: number }> => {
  const jobs = await testedJobs(context, build);
  const rankOf = ({ stored: { counts } }: Tested) => (counts.failed > 0 ? 2 : Math.sign(counts.flaky));
  jobs.sort((left, right) => rankOf(right) - rankOf(left));
  const reports = await readReports(context, build, jobs.slice(0, most));
  return { reports, others: jobs.length - reports.length };
};

/** `id` is that of a job, or of a build of one job. */
export const getJobTests = verb({
  access: { role: "viewer" },
  params: PathId,
  output: TestReport,
  async run(context, { params }) {
    const pool = await context.pool();
    const inPool = await pool.testsOf(params.id);
    const isBuild = inPool.ok
      ? inPool.value.buildId === params.id
      : (await nullIfNotFound(findJob(context, params.id))) === null;
    const { buildId } = isBuild ? { buildId: params.id } : await findJob(context, params.id);
    const build = await findRecord(context, buildId);
    const job = (await testedJobs(context, build)).find(({ id }) => id === params.id);
    if (!job) throw notFound();
    const [report] = await readReports(context, build, [job]);
    return report!;
  },
});
