import { LIMITS } from "../../protocol/limits.ts";
import type { ReportedTests } from "../../protocol/test-report.ts";

/**
 * Characters that no text needs: controls other than tabs and line ends, and those that change the direction of
 * surrounding text.
 */
const UNWANTED = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the stored form of a report's text, with at most this many characters and no incomplete one. Replaces
 * unwanted characters instead of removing them, so that separately masked parts stay apart.
 */
const storedText = (text: string, characters: number): string =>
  text.replace(UNWANTED, "\ufffd").slice(0, characters).toWellFormed();

type Texts = Pick<ReportedTests, "tests" | "warnings">;

/** Lists the texts of a report that may contain a secret, in the order of `withTexts`. */
export const listTexts = ({ tests, warnings }: Texts): string[] => [
  ...tests.flatMap(({ suite, className, name, file, message, text }) => [
    suite,
    className,
    name,
    file ?? "",
    message,
    text,
  ]),
  ...warnings.flatMap(({ file, message }) => [file ?? "", message]),
];

/** Replaces the texts of the report with these masked ones, cut to the stored lengths. */
export const withTexts = (report: Texts, texts: string[]): Texts => {
  const rest = texts.values();
  const next = (characters: number): string => storedText(rest.next().value ?? "", characters);
  const name = (): string => next(LIMITS.testNameCharacters);
  const nextFile = (file: string | null): string | null => {
    const path = name();
    return file === null ? null : path;
  };
  const message = (): string => next(LIMITS.testMessageCharacters);
  // Read the fields in the order of `listTexts`.
  const tests = report.tests.map((test) => ({
    ...test,
    suite: name(),
    className: name(),
    name: name(),
    file: nextFile(test.file),
    message: message(),
    text: next(LIMITS.testTextCharacters),
  }));
  return { tests, warnings: report.warnings.map(({ file }) => ({ file: nextFile(file), message: message() })) };
};

/** Returns a contradiction in a report; null if it is consistent. */
export const contradictionIn = ({ counts, tests, passed = [] }: ReportedTests): string | null => {
  const { total, failed, skipped, flaky } = counts;
  const countListed = (result: "failed" | "skipped"): number =>
    tests.filter(({ outcome }) => outcome === result).length;
  if (failed + skipped > total) return "must not have more failed and skipped tests than tests";
  if (flaky > total - failed - skipped) return "must not have more flaky tests than passed ones";
  if (countListed("failed") > failed || countListed("skipped") > skipped || tests.length > total)
    return "must not have fewer tests than are listed";
  if (tests.filter(({ isFlaky }) => isFlaky).length > flaky) return "must not have fewer flaky tests than are listed";
  if (tests.some(({ isFlaky, outcome }) => isFlaky && outcome !== "passed"))
    return "must not have a flaky test that did not pass";
  if (passed.length > total - failed - skipped) return "must not have fewer passed tests than are named";
  return null;
};
