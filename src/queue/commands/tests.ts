import type { TestPlace, TestSummary } from "../../protocol/test-report.ts";
import type { Change, JobEntry, JobFacts } from "../state/facts.ts";
import type { ProgressReport } from "./commands.ts";

/** Replaces the held job's test results. Keeps the days of earlier results, for deletions. */
export const testChanges = ({ job }: JobEntry, { tests, fence }: ProgressReport): Change[] => {
  if (!tests) return [];
  const testDays = [...new Set([...(job.testDays ?? []), tests.day])];
  return [{ kind: "job", job: { ...job, tests: { ...tests, fence }, testDays } }];
};

/** Returns the test results of a job that people see. These are never results from a lost lease. */
export const visibleTests = ({ status, tests, fence, result }: JobFacts) => {
  const counts = tests?.fence === fence && (status === "running" || result !== null);
  return counts ? (tests ?? null) : null;
};

export const summarizeTests = (job: JobFacts): TestSummary | null => {
  const report = visibleTests(job);
  return report && { ...report.counts, warnings: report.warnings };
};

/** Adds up the test counts of a build's jobs. Returns null if no job has counts. */
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

/** Returns the places in the archive where the job may have left reports, under any lease. */
export const testPlaces = ({ id, testDays = [] }: JobFacts): TestPlace[] => testDays.map((day) => ({ jobId: id, day }));
