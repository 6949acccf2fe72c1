import type { TestReport, TestSummary } from "../../protocol/test-report.ts";
import type { FoundBuild } from "../../services/builds/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { Refusal } from "../../services/core/refusal.ts";
import { readWorstReports } from "../../services/tests/test-reports.ts";
import { NAMED_FAILURES } from "./failing-tests.tsx";

/** Jobs whose reports are in the part of the tests at most. */
const SHOWN_REPORTS = 10;

/** What a page shows of tests. */
export interface ShownTests {
  /** Null where they are not kept any more. */
  reports: TestReport[] | null;
  /** Jobs whose reports are only on their own pages. */
  others: number;
}

const NO_TESTS: ShownTests = { reports: [], others: 0 };

const nullIfGone = async (reading: Promise<ShownTests>): Promise<ShownTests> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Refusal && (error.kind === "gone" || error.kind === "not-found"))
      return { reports: null, others: 0 };
    throw error;
  }
};

/** Where a page shows tests: all that they said, or those that failed, in a few words. */
interface TestsWanted {
  asPart: boolean;
  asFailures: boolean;
}

const isWanted = (tests: TestSummary | null, { asPart, asFailures }: TestsWanted): boolean =>
  tests !== null && (asPart || (asFailures && tests.failed > 0));

/** The reports that a page shows. They are read again at each refresh: so only those, and of few jobs. */
export const readTests = async (
  context: Context,
  { of, build, jobs }: { of: { tests: TestSummary | null }; build: FoundBuild; jobs: { id: string }[] },
  wanted: TestsWanted,
): Promise<ShownTests> =>
  isWanted(of.tests, wanted)
    ? nullIfGone(readWorstReports(context, build, jobs, wanted.asPart ? SHOWN_REPORTS : NAMED_FAILURES))
    : NO_TESTS;
