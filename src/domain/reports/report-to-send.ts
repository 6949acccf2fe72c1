import { LIMITS } from "../../protocol/limits.ts";
import type { ReportedTest, ReportedTests, TestCounts, TestWarning } from "../../protocol/test-report.ts";
import { groupBy } from "../group-by.ts";
import type { TestCase } from "./parse-junit.ts";

/** A test with the result that counts. */
export interface TestResult extends TestCase {
  /** How often the test ran. The number exceeds 1 if the test was retried. */
  tries: number;
  /** Whether the test failed and passed in the same job. */
  isFlaky: boolean;
}

/**
 * Folds the tries of each test into one result. If one of a test's cases failed, its cases are retries: the test is
 * flaky if another case passed, and otherwise failed. Without a failure, the cases are a test with several sets of
 * values, and each counts.
 */
export const foldTries = (cases: readonly TestCase[]): TestResult[] =>
  [...groupBy(cases, testIdentity).values()].flatMap(foldCases);

/** Returns the identity that two cases of one test share. */
export const testIdentity = ({ suite, className, name, file }: TestCase): string =>
  JSON.stringify([suite, className, name, file]);

const foldCases = (cases: TestCase[]): TestResult[] => {
  const isSkipped = ({ outcome }: TestCase) => outcome === "skipped";
  const ran = cases.filter((test) => !isSkipped(test));
  const failed = ran.find(({ outcome }) => outcome === "failed");
  if (!failed) return cases.map(singleTry);
  const passedTry = ran.find(({ outcome }) => outcome === "passed");
  const tries = ran.reduce((sum, test) => sum + test.failedTries + 1, 0);
  const { message, text } = failed;
  const result = { ...(passedTry ?? failed), message, text, tries, isFlaky: passedTry !== undefined };
  return [result, ...cases.filter(isSkipped).map(singleTry)];
};

const singleTry = (test: TestCase): TestResult => ({
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

/** A result that deserves its own row. */
export type IdentifiedTest = TestResult & { id: string };

/** The lengths to try for a failure's text, longest first, until the whole report fits. */
const TEXT_CHARACTERS = [LIMITS.testTextCharacters, 8192, 4096, 2048, 1024, 512, 128, 0];
/** Room for the other fields of the request. */
const SPARE_BYTES = 4096;

/**
 * Builds the report to send. It contains failed tests, then flaky ones, then the slowest, cut to fit into a request.
 * `mask` hides secrets before anything is cut.
 */
export const reportToSend = (
  results: readonly IdentifiedTest[],
  warnings: readonly TestWarning[],
  mask: (text: string) => string,
): ReportedTests => {
  const failed = results.filter(({ outcome }) => outcome === "failed");
  const flaky = results.filter(({ isFlaky }) => isFlaky);
  const slowest = results
    .filter(({ seconds }) => seconds !== null && seconds > 0)
    .sort((one, other) => other.seconds! - one.seconds!)
    .slice(0, LIMITS.slowestTests);
  const chosen = [...new Set([...failed, ...flaky].slice(0, LIMITS.reportedTests - LIMITS.slowestTests))];
  const all = [...new Set([...chosen, ...slowest])];
  const missing = failed.length + flaky.length - chosen.length;
  const more = missing > 0 ? [{ file: null, message: `${missing} more failures are counted but not listed` }] : [];
  const listedWarnings = [...more, ...warnings].slice(0, LIMITS.testWarnings).map(({ file, message }) => ({
    file: file === null ? null : cut(mask(file), LIMITS.testNameCharacters),
    message: cut(mask(message), LIMITS.testMessageCharacters),
  }));
  return fitIntoRequest({
    counts: countTests(results),
    warnings: listedWarnings,
    tests: all.map((test) => toSend(test, mask)),
  });
};

const toSend = (test: IdentifiedTest, mask: (text: string) => string): ReportedTest => {
  const { id, suite, className, name, file, line, seconds, outcome, tries, isFlaky, message, text } = test;
  const maskName = (words: string): string => cut(mask(words), LIMITS.testNameCharacters);
  return {
    id,
    suite: maskName(suite),
    className: maskName(className),
    name: maskName(name),
    file: file === null ? null : maskName(file),
    line,
    seconds,
    outcome,
    tries,
    isFlaky,
    message: cut(mask(withoutColours(message)), LIMITS.testMessageCharacters),
    text: cut(mask(withoutColours(text)), LIMITS.testTextCharacters),
  };
};

/** Shortens texts, and then drops tests, until a request can hold the report. */
const fitIntoRequest = (report: ReportedTests): ReportedTests => {
  const shortened = (characters: number): ReportedTests => ({
    ...report,
    tests: report.tests.map((test) => ({ ...test, text: cut(test.text, characters) })),
  });
  for (const characters of TEXT_CHARACTERS) {
    const shorter = shortened(characters);
    if (fits(shorter)) return shorter;
  }
  const fewer = shortened(0);
  while (!fits(fewer) && fewer.tests.length > 0) fewer.tests.splice(Math.floor(fewer.tests.length * 0.9));
  return fewer;
};

const fits = (report: ReportedTests): boolean =>
  new TextEncoder().encode(JSON.stringify(report)).length <= LIMITS.bodyBytes - SPARE_BYTES;

const cut = (text: string, characters: number): string =>
  text.length > characters ? text.slice(0, characters).toWellFormed() : text.toWellFormed();

/** Removes terminal codes (ECMA-48) that tools write into messages. Some tools lose the escape character. */
const withoutColours = (text: string): string => text.replace(/(?:\x1b|\ufffd)\[[\d;]*[A-Za-z]/g, "");
