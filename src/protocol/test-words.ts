import { withCommas } from "./limits.ts";
import type { TestCounts } from "./test-report.ts";

/** Counts in a few words: `3 of 1,204 failed, 1 flaky`. */
export const testsInWords = ({ total, failed, skipped, flaky }: Omit<TestCounts, "seconds">): string => {
  const passed = total - failed - skipped;
  const all = total === 1 ? "1 test" : `${withCommas(total)} tests`;
  const main = failed > 0 ? `${withCommas(failed)} of ${all} failed` : `${withCommas(passed)} of ${all} passed`;
  const more = [
    ...(flaky > 0 ? [`${withCommas(flaky)} flaky`] : []),
    ...(skipped > 0 ? [`${withCommas(skipped)} skipped`] : []),
  ];
  return total === 0 ? "no tests" : [main, ...more].join(", ");
};
