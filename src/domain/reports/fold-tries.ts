import type { TestCounts } from "../../protocol/test-report.ts";
import { groupBy } from "../group-by.ts";
import type { TestCase } from "./test-case.ts";

/** A test with the result that counts. */
export interface TestResult extends TestCase {
  /** How often it ran: 1, or more where it was tried again. */
  tries: number;
  /** Whether it failed and passed in the same job. */
  isFlaky: boolean;
}

/**
 * One result for each test. The same test several times is one that was tried again if a try failed: flaky if another
 * passed, else failed. Without a failure they are a test with several sets of values, each counted.
 */
export const foldTries = (cases: readonly TestCase[]): TestResult[] =>
  [...groupBy(cases, identityOf).values()].flatMap(resultsOf);

/** What makes two cases the same test. */
export const identityOf = ({ suite, className, name, file }: TestCase): string =>
  JSON.stringify([suite, className, name, file]);

const resultsOf = (cases: TestCase[]): TestResult[] => {
  const isSkipped = ({ outcome }: TestCase) => outcome === "skipped";
  const ran = cases.filter((test) => !isSkipped(test));
  const failed = ran.find(({ outcome }) => outcome === "failed");
  if (!failed) return cases.map(alone);
  const passed = ran.find(({ outcome }) => outcome === "passed");
  const tries = ran.reduce((sum, test) => sum + test.failedTries + 1, 0);
  const { message, text } = failed;
  const result = { ...(passed ?? failed), message, text, tries, isFlaky: passed !== undefined };
  return [result, ...cases.filter(isSkipped).map(alone)];
};

const alone = (test: TestCase): TestResult => ({
  ...test,
  tries: test.failedTries + 1,
  isFlaky: test.outcome === "passed" && test.failedTries > 0,
});

export const countTests = (results: readonly TestResult[]): TestCounts => ({
  total: results.length,
  failed: results.filter(({ outcome }) => outcome === "failed").length,
  skipped: results.filter(({ outcome }) => outcome === "skipped").length,
  flaky: results.filter(({ isFlaky }) => isFlaky).length,
  seconds: Math.round(results.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0) * 1000) / 1000,
});
