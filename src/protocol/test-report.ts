import * as z from "zod/mini";
import { atMost, atMostItems, intBetween } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS, withCommas } from "./limits.ts";
import { WHOLE } from "./page.ts";

/*
 * TEST RESULTS. The agent reads the reports after the last step and sends:
 *   PUT  /job/{id}/tests                    ReportedTests -> TestReportTaken, with the lease. Repeatable: the last one
 *                                           counts. If `failedBefore` names tests that passed in this job, the agent
 *                                           repeats the report with their ids in `passed`.
 */

const count = () => intBetween(0, LIMITS.countedTests);

export const TestCounts = z.object({
  total: count(),
  failed: count(),
  skipped: count(),
  flaky: count(),
  /** The total seconds of all tests. */
  seconds: z.number().check(z.nonnegative()),
});
export type TestCounts = z.infer<typeof TestCounts>;

/** The summary on builds and jobs. `warnings` counts unreadable files and similar problems. */
export const TestSummary = z.extend(TestCounts, { warnings: z.int() });
export type TestSummary = z.infer<typeof TestSummary>;

/**
 * The id of a test. The agent derives it from the job's key and the names of the test. It is the same in each build.
 */
export const TestId = z.string().check(z.regex(/^[0-9a-f]{16}$/, "must be 16 lower-case hexadecimal digits"));

const name = () => z.string().check(atMost(LIMITS.testNameCharacters));

export const ReportedTest = z.object({
  id: TestId,
  suite: name(),
  className: name(),
  name: name(),
  file: z.nullable(name()),
  line: z.nullable(intBetween(0, 999_999_999)),
  seconds: z.nullable(z.number().check(z.nonnegative())),
  outcome: z.enum(["passed", "failed", "skipped"]),
  tries: intBetween(1, LIMITS.countedTests),
  /** Whether the test both failed and passed. */
  isFlaky: z.boolean(),
  message: z.string().check(atMost(LIMITS.testMessageCharacters)),
  text: z.string().check(atMost(LIMITS.testTextCharacters)),
});
export type ReportedTest = z.infer<typeof ReportedTest>;

export const TestWarning = z.object({
  file: z.nullable(name()),
  message: z.string().check(atMost(LIMITS.testMessageCharacters)),
});
export type TestWarning = z.infer<typeof TestWarning>;

const Warnings = z.array(TestWarning).check(atMostItems(LIMITS.testWarnings, "warnings"));

/** The tests that failed, were flaky, or took longest. */
export const ReportedTests = z.object({
  counts: TestCounts,
  warnings: Warnings,
  tests: z.array(ReportedTest).check(
    atMostItems(LIMITS.reportedTests, "tests"),
    z.refine((tests) => new Set(tests.map(({ id }) => id)).size === tests.length, "must not have duplicate ids"),
  ),
  passed: z.optional(z.array(TestId).check(atMostItems(LIMITS.reportedTests, "ids"))),
});
export type ReportedTests = z.infer<typeof ReportedTests>;

/** The answer to a report: tests that failed in other builds of the same commit. */
export const TestReportTaken = z.object({ failedBefore: z.array(TestId) });

/** A test to show. `failures` counts the test's recent failures in builds of the repository's default branch. */
export const ShownTest = z.extend(ReportedTest, { failures: z.int() });

/** The tests of one job. */
export const TestReport = z.object({
  jobId: Id,
  /** The key of the job in the file; null for a first job. */
  jobKey: z.nullable(z.string()),
  counts: TestCounts,
  warnings: z.array(TestWarning),
  tests: z.array(ShownTest),
});
export type TestReport = z.infer<typeof TestReport>;

/**
 * The filter of a build's reports. The list is complete unless it is long. Before 0.13.0 the list had no parameters, so
 * it ignores unknown ones.
 */
export const TestsFilter = z.object(WHOLE);

/** One failure or flaky result of a test, as the repository stores it. */
export const TestFailure = z.object({
  buildId: Id,
  jobId: Id,
  jobKey: z.nullable(z.string()),
  branch: z.string(),
  commitSha: z.nullable(z.string()),
  at: Timestamp,
  kind: z.enum(["failed", "flaky"]),
});

export type TestFailure = z.infer<typeof TestFailure>;

/** A test of a repository. */
const TEST = { id: TestId, suite: z.string(), className: z.string(), name: z.string(), file: z.nullable(z.string()) };

/** A test that failed, with its last failures, newest first. */
export const TestHistory = z.object({
  ...TEST,
  failures: z.array(TestFailure),
});
export type TestHistory = z.infer<typeof TestHistory>;

/** A test that failed and passed on the same commit: how often recently, and when last. */
export const FlakyTest = z.object({
  ...TEST,
  jobKey: z.nullable(z.string()),
  times: z.int(),
  lastAt: Timestamp,
  lastBuildId: Id,
});
export type FlakyTest = z.infer<typeof FlakyTest>;

/** The id of a test in a path. Any text is valid here. An id that no test has is not found. */
export const PathTest = z.object({ id: Id, testId: TestId });

/** The tests of a job, as its pool stores them. The report itself is in the archive. */
export interface StoredTests {
  counts: TestCounts;
  /** The number of warnings in the report. */
  warnings: number;
  /**
   * Whether the report names a test that matters to other builds: a test that failed, is flaky, or passed after all.
   */
  hasNews: boolean;
  /** The fence of the lease that sent the report. */
  fence: number;
  /** The day (UTC) of the upload. The day is part of the report's key in the archive. */
  day: string;
}

/** The stored tests with the job's key in its file; null for a first job. */
export interface TestsOfJob extends StoredTests {
  jobKey: string | null;
}

/** A day in whose folder a job may have a report. */
export interface TestPlace {
  jobId: string;
  day: string;
}

/** Describes counts in a few words: `3 of 1,204 failed, 1 flaky`. */
export const testsInWords = ({ total, failed, skipped, flaky }: Omit<TestCounts, "seconds">): string => {
  const passedCount = total - failed - skipped;
  const all = total === 1 ? "1 test" : `${withCommas(total)} tests`;
  const main = failed > 0 ? `${withCommas(failed)} of ${all} failed` : `${withCommas(passedCount)} of ${all} passed`;
  const more = [
    ...(flaky > 0 ? [`${withCommas(flaky)} flaky`] : []),
    ...(skipped > 0 ? [`${withCommas(skipped)} skipped`] : []),
  ];
  return total === 0 ? "no tests" : [main, ...more].join(", ");
};
