import { byteSize, LIMITS, PERIODS, withCommas } from "../../../protocol/limits.ts";
import type { Words } from "./schema-words.ts";

const ID = "Id of the test, made by the agent of the job's key and the test's names: the same in each build.";
const NAMES = {
  suite: "Names of the suites around it, outermost first.",
  className: "Its class; empty where the report has none.",
  name: "Its name.",
  file: "The file that it is in, as the report has it; null where it does not say.",
};
const COUNTS = {
  total: "All tests.",
  failed: "Those that failed.",
  skipped: "Those that did not run.",
  flaky: "Those that failed and then passed.",
  seconds: "What all tests took together, in seconds.",
};
const TEST = {
  id: ID,
  ...NAMES,
  line: "The line in the file; null where the report does not say.",
  seconds: "What it took, in seconds; null where the report does not say.",
  outcome: "What became of it. A flaky one passed.",
  tries: "How often it ran.",
  isFlaky: "true: it failed and then passed.",
  message: "What it failed with, in short; empty where it did not.",
  text: `The stack, or what else was said of the failure: at most ${byteSize(LIMITS.testTextCharacters)}.`,
};
const KEY = "Key of the job in its file; null for the first job of a build.";
const WARNING = {
  file: "The file that is meant; null for none.",
  message: "What is wrong.",
};

/** The schemas of what the tests of jobs said. */
export const TEST_WORDS: Words = {
  TestCounts: { is: "How many tests there were.", ...COUNTS },
  TestSummary: {
    is: "How many tests there were, by the reports of the jobs.",
    ...COUNTS,
    warnings: "How many files could not be read, and the like.",
  },
  TestId: { is: ID },
  ReportedTest: { is: "One test.", ...TEST },
  ShownTest: {
    is: "One test, with its failures of late.",
    ...TEST,
    failures: `How often it failed in the last ${PERIODS.flakyDays} days in builds of the repository's default branch. 0 for one that passed here.`,
  },
  TestWarning: { is: "What could not be read.", ...WARNING },
  ReportedTests: {
    is: "What the tests of a job said.",
    counts: "Of all tests, those that are not listed included.",
    warnings: `At most ${LIMITS.testWarnings}.`,
    tests: `Those that failed or were flaky, and the slowest: at most ${withCommas(LIMITS.reportedTests)}.`,
    passed: "Of `failedBefore`, the ids of the tests that passed in this job.",
  },
  TestReportTaken: {
    is: "The report is kept.",
    failedBefore: "Ids of tests that failed in other builds of the same commit.",
  },
  TestReport: {
    is: "What the tests of a job said.",
    jobId: "Id of the job; of the build, where it has one job.",
    jobKey: KEY,
    counts: "Of all tests, those that are not listed included.",
    warnings: "Files that could not be read, and the like.",
    tests: "Those that failed or were flaky, and the slowest.",
  },
  TestFailure: {
    is: "One failure of a test.",
    buildId: "Id of the build.",
    jobId: "Id of the job; of the build, where it has one job.",
    jobKey: KEY,
    branch: "The branch or ref that was built.",
    commitSha: "The commit that was built; null where it was not known.",
    at: "When the job ended.",
    kind: "failed; or flaky: it passed too, on the same commit.",
  },
  TestHistory: {
    is: "The last failures of a test.",
    id: ID,
    ...NAMES,
    failures: `The newest first, at most ${LIMITS.testFailures}.`,
  },
  FlakyTest: {
    is: "A test that failed and passed on the same commit.",
    id: ID,
    ...NAMES,
    jobKey: KEY,
    times: `How often in the last ${PERIODS.flakyDays} days.`,
    lastAt: "When last.",
    lastBuildId: "Id of the build in which it failed last.",
  },
};
