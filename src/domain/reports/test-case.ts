/** One `testcase` element: one try of one test, as its tool wrote it down. */
export interface TestCase {
  /** Names of the suites around it, outermost first, joined by " > ". */
  suite: string;
  className: string;
  name: string;
  /** Source file as the tool names it, and the line in it; null where it does not. */
  file: string | null;
  line: number | null;
  /** Null where the report has no number that makes sense. */
  seconds: number | null;
  outcome: "passed" | "failed" | "skipped";
  /** Failed tries that the tool itself put into this element (Surefire's `flakyFailure`, `rerunFailure`). */
  failedTries: number;
  /** Of a failure: its first line of words, and its stack or other text. Empty without one. */
  message: string;
  text: string;
}

/** A file that is no test report. The message has line and column and never more of the file than an element's name. */
export class ReportRefused extends Error {}

/** Texts are cut later than what is sent of them, so that a secret is masked before it is cut through. */
export const REPORT_LIMITS = {
  fileBytes: 30 * 1024 * 1024,
  jobBytes: 100 * 1024 * 1024,
  jobCases: 100_000,
  nameCharacters: 1_000,
  messageCharacters: 4_000,
  /** Of a failure. */
  textCharacters: 20 * 1024,
  /** Suites around a test case. */
  depth: 100,
} as const;
