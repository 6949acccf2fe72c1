import * as z from "zod/mini";
import { dayOf } from "../archive/keys.ts";
import { getTests, putTests } from "../archive/tests.ts";
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

/** Where the reports of a build's jobs are, by the ids of the jobs. @throws Refusal not-found */
const reportsOf = async (context: Context, buildId: string): Promise<Record<string, StoredTests>> => {
  const inPool = await (await context.pool()).testsOf(buildId);
  if (inPool.ok && inPool.value.buildId === buildId) return inPool.value.tests;
  return (await findRecord(context, buildId)).testReports ?? {};
};

/** A job of which the tests are asked for. */
interface Tested {
  id: string;
  key: string | null;
}

/** What the tests of one job said, with how often each failed lately. @throws Refusal gone */
const readReport = async (
  context: Context,
  build: Pick<Build, "repoId">,
  { id: jobId, key: jobKey }: Tested,
  { day, fence }: StoredTests,
): Promise<TestReport> => {
  const kept = await reaching(getTests(context.archive, { orgId: context.orgId, jobId, day, fence }));
  if (!kept) throw new Refusal("gone", "This report was deleted, or the days for which it was kept are over.");
  const { counts, warnings } = kept;
  const failing = kept.tests.filter(({ outcome, isFlaky }) => outcome === "failed" || isFlaky);
  const failures = await failuresOnDefault(
    context,
    build.repoId,
    failing.map(({ id }) => id),
  );
  const tests = kept.tests.map((test) => ({ ...test, failures: failures.get(test.id) ?? 0 }));
  return { jobId, jobKey, counts, warnings, tests };
};

/** Of a build of one job its own, of several jobs those of each; without jobs that said nothing. */
export const listBuildTests = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(TestReport),
  async run(context, { params }) {
    const build = await findRecord(context, params.id);
    const reports = await reportsOf(context, build.id);
    const jobs: Tested[] = build.jobs ?? [{ id: build.id, key: null }];
    return Promise.all(
      jobs.flatMap((job) => {
        const stored = reports[job.id];
        return stored ? [readReport(context, build, job, stored)] : [];
      }),
    );
  },
});

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
    const job = isBuild ? { id: params.id, key: null, buildId: params.id } : await findJob(context, params.id);
    const build = await findRecord(context, job.buildId);
    const stored = (await reportsOf(context, job.buildId))[job.id];
    if (!stored) throw notFound();
    return readReport(context, build, job, stored);
  },
});
