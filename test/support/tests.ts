import type { ReportedTest } from "../../src/protocol/test-report.ts";

/** Returns a test's id in the agents' format. */
export const testId = (number: number): string => number.toString(16).padStart(16, "0");

/** Returns a failed test with these changes. */
export const reportedTest = (number: number, more: Partial<ReportedTest> = {}): ReportedTest => ({
  ...{ id: testId(number), suite: "math", className: "Sum", name: `adds ${number}`, file: "sum.ts", line: 7 },
  ...{ seconds: 0.5, outcome: "failed", tries: 1, isFlaky: false, message: "1 is not 2", text: "at sum.ts:7" },
  ...more,
});

/** Returns a report of these tests and this many passed ones. */
export const testReport = (tests: ReportedTest[], passedToo: number = 10, more: object = {}) => {
  const number = (wanted: (test: ReportedTest) => boolean): number => tests.filter(wanted).length;
  return {
    counts: {
      total: tests.length + passedToo,
      failed: number(({ outcome }) => outcome === "failed"),
      skipped: number(({ outcome }) => outcome === "skipped"),
      flaky: number(({ isFlaky }) => isFlaky),
      seconds: 12.5,
    },
    warnings: [],
    tests,
    ...more,
  };
};
