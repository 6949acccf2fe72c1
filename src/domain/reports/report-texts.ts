import { LIMITS } from "../../protocol/limits.ts";
import type { ReportedTests } from "../../protocol/test-report.ts";
import { storedText } from "./stored-text.ts";

type Texts = Pick<ReportedTests, "tests" | "warnings">;

/** The texts of a report that may have a secret in them, in an order that `withTexts` knows. */
export const textsOf = ({ tests, warnings }: Texts): string[] => [
  ...tests.flatMap(({ suite, className, name, file, message, text }) => [
    ...[suite, className, name, file ?? "", message, text],
  ]),
  ...warnings.flatMap(({ file, message }) => [file ?? "", message]),
];

/** The report with these texts, masked, cut to the lengths that are kept. */
export const withTexts = (report: Texts, texts: string[]): Texts => {
  const rest = texts.values();
  const next = (characters: number): string => storedText(rest.next().value ?? "", characters);
  const name = (): string => next(LIMITS.testNameCharacters);
  const fileOf = (file: string | null): string | null => {
    const kept = name();
    return file === null ? null : kept;
  };
  const message = (): string => next(LIMITS.testMessageCharacters);
  // The fields are read in the order of `textsOf`.
  const tests = report.tests.map((test) => ({
    ...test,
    suite: name(),
    className: name(),
    name: name(),
    file: fileOf(test.file),
    message: message(),
    text: next(LIMITS.testTextCharacters),
  }));
  return { tests, warnings: report.warnings.map(({ file }) => ({ file: fileOf(file), message: message() })) };
};
