import * as z from "zod/mini";
import { atMost, atMostItems, intBetween } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS, withCommas } from "./limits.ts";
import { WHOLE } from "./page.ts";

/*
 * WHAT A JOB'S TESTS SAID. The agent reads the reports after the last step, and sends
 *   PUT  /job/{id}/tests                    ReportedTests -> TestReportTaken, with the lease. May be repeated: the last
 *                                           one counts. Where `failedBefore` names tests that passed in this job, the
 *                                           agent sends the same once more with their ids in `passed`.
 */

const count = () => intBetween(0, LIMITS.countedTests);

export const TestCounts = z.object({
  total: count(),
  failed: count(),
  skipped: count(),
  flaky: count(),
  /** Of all tests together. */
  seconds: z.number().check(z.nonnegative()),
});
export type TestCounts = z.infer<typeof TestCounts>;

/** What builds and jobs show: `warnings` is how many files could not be read, and the like. */
export const TestSummary = z.extend(TestCounts, { warnings: z.int() });
export type TestSummary = z.infer<typeof TestSummary>;

/** Made by the agent of the job's key and the names of the test: the same in each build. */
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
  /** It failed and passed. */
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

/** Of the tests those that failed, were flaky, or took longest. */
export const ReportedTests = z.object({
  counts: TestCounts,
  warnings: Warnings,
  tests: z.array(ReportedTest).check(
    atMostItems(LIMITS.reportedTests, "tests"),
    z.refine((tests) => new Set(tests.map(({ id }) => id)).size === tests.length, "must not have an id twice"),
  ),
  passed: z.optional(z.array(TestId).check(atMostItems(LIMITS.reportedTests, "ids"))),
});
export type ReportedTests = z.infer<typeof ReportedTests>;

/** Tests that failed in other builds of the same commit. */
export const TestReportTaken = z.object({ failedBefore: z.array(TestId) });

/** How often a test failed lately in builds of the repository's default branch. */
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

/** Reports of a build: whole unless they are long. Without parameters before 0.13.0, so others are passed over. */
export const TestsFilter = z.object(WHOLE);

/** One failure of a test, or one flaky result, as the repository remembers it. */
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

/** A test that failed, with its last failures, the newest first. */
export const TestHistory = z.object({
  ...TEST,
  failures: z.array(TestFailure),
});
export type TestHistory = z.infer<typeof TestHistory>;

/** A test that failed and passed on the same commit: how often in the last days, and when last. */
export const FlakyTest = z.object({
  ...TEST,
  jobKey: z.nullable(z.string()),
  times: z.int(),
  lastAt: Timestamp,
  lastBuildId: Id,
});
export type FlakyTest = z.infer<typeof FlakyTest>;

/** Any text is an id here: one that no test has is not found. */
export const PathTest = z.object({ id: Id, testId: TestId });

/** The tests of a job, as its pool has them. The report itself is in the archive. */
export interface StoredTests {
  counts: TestCounts;
  /** How many warnings the report has. */
  warnings: number;
  /** Whether the report names a test that others have to hear of: one that failed, is flaky, or passed after all. */
  hasNews: boolean;
  /** Of the lease under which it was sent. */
  fence: number;
  /** The day (UTC) on which it was sent: a part of its key in the archive. */
  day: string;
}

/** The same with the key of the job in its file; null for a first job. */
export interface TestsOfJob extends StoredTests {
  jobKey: string | null;
}

/** A day in whose folder a job may have left a report. */
export interface TestPlace {
  jobId: string;
  day: string;
}

/** Counts in a few words: `3 of 1,204 failed, 1 flaky`. */
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
