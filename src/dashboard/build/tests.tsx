import { PERIODS } from "../../protocol/limits.ts";
import { type TestReport, type TestSummary, testsInWords } from "../../protocol/test-report.ts";
import { withCommas } from "../../protocol/units.ts";
import type { FoundBuild } from "../../services/builds/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { Refusal } from "../../services/core/refusal.ts";
import { readWorstReports } from "../../services/tests/test-reports.ts";
import { count, testName } from "../parts/format.ts";
import { Table } from "../parts/lists.tsx";

/** The number of failing tests that a page names at once. */
const NAMED_FAILURES = 3;

/**
 * The number of jobs whose reports to read, and whether to count failures: for the tests on a page, and for the tests
 * next to a failure.
 */
const AS_PART = { most: 10, isCounted: true };
const AS_FAILURES = { most: NAMED_FAILURES, isCounted: false };

/** The tests on a page. */
export interface ShownTests {
  /** The reports; null if the service no longer keeps them. */
  reports: TestReport[] | null;
  /** The number of jobs whose reports appear only on their own pages. */
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

/** The ways in which a page shows tests: as whole reports, or as a few words about the failures. */
interface TestsUse {
  asPart: boolean;
  asFailures: boolean;
}

const isNeeded = (tests: TestSummary | null, { asPart, asFailures }: TestsUse): boolean =>
  tests !== null && (asPart || (asFailures && tests.failed > 0));

/** Reads the reports that a page shows. Each refresh reads them again, so the page limits the number of jobs. */
export const readTests = async (
  context: Context,
  { run, build, jobs }: { run: { tests: TestSummary | null }; build: FoundBuild; jobs: { id: string }[] },
  use: TestsUse,
): Promise<ShownTests> =>
  isNeeded(run.tests, use)
    ? nullIfGone(readWorstReports(context, build, jobs, use.asPart ? AS_PART : AS_FAILURES))
    : NO_TESTS;

interface Props {
  reports: TestReport[] | null;
  /** The counts for all tests of the build or the job. */
  counts: TestSummary | null;
  testsPage: string;
}

/** Shows the first failed tests, each with the first line of its message, or nothing if no test failed. */
export const FailingTests = ({ reports, counts, testsPage }: Props) => {
  const failed = (reports ?? []).flatMap(({ tests }) => tests).filter(({ outcome }) => outcome === "failed");
  if (failed.length === 0) return null;
  const firstFailed = failed.slice(0, NAMED_FAILURES);
  const others = (counts?.failed ?? 0) - firstFailed.length;
  return (
    <ul class="failing-tests">
      {firstFailed.map(({ suite, className, name, message, file, line }) => (
        <li>
          <bdi class="failing-name">{testName({ suite, className, name })}</bdi>
          {message !== "" && <bdi class="failing-message">{message.split("\n")[0]}</bdi>}
          {file !== null && (
            <bdi class="hint">
              {file}
              {line !== null && `:${line}`}
            </bdi>
          )}
        </li>
      ))}
      {others > 0 && (
        <li>
          <a href={testsPage}>{withCommas(others)} more failed</a>
        </li>
      )}
    </ul>
  );
};

type Test = TestReport["tests"][number];

/** The number of slowest tests that a page lists. */
const SLOWEST = 20;
/** The number of failures whose stacks are open when the page opens. */
const OPEN = 3;

/** Shows the test counts in the facts of a build or a job, with a link to the tests. */
export const TestsLine = ({ tests, href }: { tests: TestSummary | null; href: string }) =>
  tests && (
    <span>
      <a href={href} class={tests.failed > 0 ? "outcome" : undefined}>
        {testsInWords(tests)}
      </a>
    </span>
  );

const TestName = ({ test, repoId }: { test: Test; repoId: string }) => (
  <a href={`/app/repositories/${repoId}/tests/${test.id}`} class="test-name">
    <bdi>{testName(test)}</bdi>
  </a>
);

const placeInFile = ({ file, line }: Test): string | null =>
  file === null ? null : `${file}${line === null ? "" : `:${line}`}`;

interface FailureProps {
  test: Test;
  repoId: string;
  branch: string | null;
  isOpen: boolean;
}

const Failure = ({ test, repoId, branch, isOpen }: FailureProps) => (
  <li class="test" data-row tabindex={-1}>
    <TestName test={test} repoId={repoId} />
    {test.isFlaky && <span class="label">flaky</span>}
    {test.tries > 1 && <span class="hint"> {count(test.tries, "try").replace("trys", "tries")}</span>}
    {test.failures > 0 && (
      <span class="hint">
        {" "}
        failed {count(test.failures, "time")} on <bdi>{branch ?? "the default branch"}</bdi> in {PERIODS.flakyDays} days
      </span>
    )}
    {test.message !== "" && <p class="test-message">{test.message}</p>}
    {(test.text !== "" || test.file !== null) && (
      <details id={`t-${test.id}`} open={isOpen}>
        <summary>{placeInFile(test) === null ? "Details" : <bdi>{placeInFile(test)}</bdi>}</summary>
        {test.text !== "" && (
          <pre class="output" tabindex={0}>
            {test.text}
          </pre>
        )}
      </details>
    )}
  </li>
);

const Failures = ({
  title,
  tests,
  ...more
}: {
  title: string;
  tests: Test[];
  repoId: string;
  branch: string | null;
}) =>
  tests.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul class="tests">
        {tests.map((test, index) => (
          <Failure test={test} isOpen={index < OPEN} {...more} />
        ))}
      </ul>
    </>
  );

const Slowest = ({ tests, repoId }: { tests: Test[]; repoId: string }) => {
  const slowest = tests
    .filter(({ seconds }) => (seconds ?? 0) > 0)
    .sort((left, right) => right.seconds! - left.seconds!)
    .slice(0, SLOWEST);
  return slowest.length === 0 ? null : (
    <details id="slowest-tests">
      <summary>Slowest tests</summary>
      <Table columns={["Test", "Seconds"]}>
        {slowest.map((test) => (
          <tr data-row tabindex={-1}>
            <td>
              <TestName test={test} repoId={repoId} />
            </td>
            <td>{test.seconds}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
};

const Warnings = ({ warnings }: Pick<TestReport, "warnings">) =>
  warnings.length === 0 ? null : (
    <ul class="test-warnings">
      {warnings.map(({ file, message }) => (
        <li>
          {file !== null && <code>{file}</code>} {message}
        </li>
      ))}
    </ul>
  );

interface TestsProps {
  tests: ShownTests;
  repoId: string;
  /** The repository's default branch, if the service knows it. */
  branch?: string | null;
}

/** Shows the tests of a build or a job, in four groups: failed, flaky, slowest, and unreadable tests. */
export const TestsSection = ({ tests: { reports, others }, repoId, branch = null }: TestsProps) => {
  if (reports?.length === 0) return null;
  const tests = (reports ?? []).flatMap((report) => report.tests);
  const failed = tests.filter(({ outcome }) => outcome === "failed");
  return (
    <section class="part" id="tests">
      <h2>Tests</h2>
      {reports === null && <p>The reports are no longer available.</p>}
      <Warnings warnings={(reports ?? []).flatMap(({ warnings }) => warnings)} />
      <Failures title={count(failed.length, "failure")} tests={failed} repoId={repoId} branch={branch} />
      <Failures title="Flaky" tests={tests.filter(({ isFlaky }) => isFlaky)} repoId={repoId} branch={branch} />
      <Slowest tests={tests} repoId={repoId} />
      {others > 0 && <p class="hint">For {count(others, "more job")}, see the reports on the job pages.</p>}
    </section>
  );
};
