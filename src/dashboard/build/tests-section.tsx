import { PERIODS } from "../../protocol/limits.ts";
import type { TestReport, TestSummary } from "../../protocol/test-report.ts";
import { testsInWords } from "../../protocol/test-words.ts";
import { count } from "../parts/count.ts";
import { Table } from "../parts/table.tsx";
import { testName } from "./failing-tests.tsx";
import type { ShownTests } from "./read-tests.ts";

type Test = TestReport["tests"][number];

/** Slowest tests that a page lists. */
const SLOWEST = 20;
/** Failures whose stacks are shown at first. */
const OPEN = 3;

/** The counts in the facts of a build or a job, with a link to the tests. */
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

const placeOf = ({ file, line }: Test): string | null =>
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
        <summary>{placeOf(test) === null ? "Details" : <bdi>{placeOf(test)}</bdi>}</summary>
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
  shown: ShownTests;
  repoId: string;
  /** The repository's default branch, where it is known. */
  branch?: string | null;
}

/** The tests of a build, or of a job: those that failed, the flaky ones, the slowest, and what could not be read. */
export const TestsSection = ({ shown: { reports, others }, repoId, branch = null }: TestsProps) => {
  if (reports?.length === 0) return null;
  const tests = (reports ?? []).flatMap((report) => report.tests);
  const failed = tests.filter(({ outcome }) => outcome === "failed");
  return (
    <section class="part" id="tests">
      <h2>Tests</h2>
      {reports === null && <p>The reports are not kept any more.</p>}
      <Warnings warnings={(reports ?? []).flatMap(({ warnings }) => warnings)} />
      <Failures title={count(failed.length, "failure")} tests={failed} repoId={repoId} branch={branch} />
      <Failures title="Flaky" tests={tests.filter(({ isFlaky }) => isFlaky)} repoId={repoId} branch={branch} />
      <Slowest tests={tests} repoId={repoId} />
      {others > 0 && <p class="hint">The reports of {count(others, "more job")} are on the pages of these jobs.</p>}
    </section>
  );
};
