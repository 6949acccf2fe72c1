import type { TestReport, TestSummary } from "../../protocol/test-report.ts";

/** A test by what people call it: `suite > class > name`. */
export const testName = ({
  suite,
  className,
  name,
}: Pick<TestReport["tests"][number], "suite" | "className" | "name">): string =>
  [suite, className, name].filter((part) => part !== "").join(" > ") || "a test without a name";

/** Failing tests that are named at once. */
export const NAMED_FAILURES = 3;

interface Props {
  reports: TestReport[] | null;
  /** Of all its tests. */
  counts: TestSummary | null;
  testsPage: string;
}

/** The first tests that failed, each with the first line of its message. Nothing without any. */
export const FailingTests = ({ reports, counts, testsPage }: Props) => {
  const failed = (reports ?? []).flatMap(({ tests }) => tests).filter(({ outcome }) => outcome === "failed");
  if (failed.length === 0) return null;
  const named = failed.slice(0, NAMED_FAILURES);
  const others = (counts?.failed ?? 0) - named.length;
  return (
    <ul class="failing-tests">
      {named.map(({ suite, className, name, message, file, line }) => (
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
          <a href={testsPage}>{others.toLocaleString("en")} more that failed</a>
        </li>
      )}
    </ul>
  );
};
