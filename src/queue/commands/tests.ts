import type { TestPlace, TestSummary } from "../../protocol/test-report.ts";
import type { Change, JobEntry, JobFacts } from "../state/facts.ts";
import type { ProgressReport } from "./commands.ts";

/** What the tests of the held job said, instead of what they said before. The days stay known, for deletions. */
export const testChanges = ({ job }: JobEntry, { tests, fence }: ProgressReport): Change[] => {
  if (!tests) return [];
  const testDays = [...new Set([...(job.testDays ?? []), tests.day])];
  return [{ kind: "job", job: { ...job, tests: { ...tests, fence }, testDays } }];
};

/** What people see of a job's tests: never those of a lease that was lost. */
export const visibleTests = ({ status, tests, fence, result }: JobFacts) => {
  const counts = tests?.fence === fence && (status === "running" || result !== null);
  return counts ? (tests ?? null) : null;
};

export const summarizeTests = (job: JobFacts): TestSummary | null => {
  const report = visibleTests(job);
  return report && { ...report.counts, warnings: report.warnings };
};

/** The counts of the jobs of a build together; null where no job has any. */
export const testsOfJobs = (jobs: readonly { tests: TestSummary | null }[]): TestSummary | null => {
  const summaries = jobs.flatMap(({ tests }) => (tests ? [tests] : []));
  const sum = (field: keyof TestSummary): number => summaries.reduce((total, counts) => total + counts[field], 0);
  if (summaries.length === 0) return null;
  return {
    total: sum("total"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    flaky: sum("flaky"),
    seconds: Math.round(sum("seconds") * 1000) / 1000,
    warnings: sum("warnings"),
  };
};

/** Where in the archive the job may have left reports, under any lease. */
export const testPlaces = ({ id, testDays = [] }: JobFacts): TestPlace[] => testDays.map((day) => ({ jobId: id, day }));
