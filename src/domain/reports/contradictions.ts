import type { ReportedTests } from "../../protocol/test-report.ts";

/** What a report says of itself that cannot be; null for one that can. */
export const contradictionIn = ({ counts, tests, passed = [] }: ReportedTests): string | null => {
  const { total, failed, skipped, flaky } = counts;
  const shown = (wanted: "failed" | "skipped"): number => tests.filter(({ outcome }) => outcome === wanted).length;
  if (failed + skipped > total) return "must not have more failed and skipped tests than tests";
  if (flaky > total - failed - skipped) return "must not have more flaky tests than passed ones";
  if (shown("failed") > failed || shown("skipped") > skipped || tests.length > total)
    return "must not have fewer tests than are listed";
  if (tests.filter(({ isFlaky }) => isFlaky).length > flaky) return "must not have fewer flaky tests than are listed";
  if (tests.some(({ isFlaky, outcome }) => isFlaky && outcome !== "passed"))
    return "must not have a flaky test that did not pass";
  if (passed.length > total - failed - skipped) return "must not have fewer passed tests than are named";
  return null;
};
