import type { TestReport } from "../../protocol/test-report.ts";
import { testName } from "../tests/test-name.ts";

/** Failing tests that are named at once. */
const MOST = 3;

/** The first tests that failed, each with the first line of its message. Nothing without any. */
export const FailingTests = ({ reports, testsPage }: { reports: TestReport[] | null; testsPage: string }) => {
  const failed = (reports ?? []).flatMap(({ tests }) => tests).filter(({ outcome }) => outcome === "failed");
  if (failed.length === 0) return null;
  return (
    <ul class="failing-tests">
      {failed.slice(0, MOST).map(({ suite, className, name, message, file, line }) => (
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
      {failed.length > MOST && (
        <li>
          <a href={testsPage}>{(failed.length - MOST).toLocaleString("en")} more that failed</a>
        </li>
      )}
    </ul>
  );
};
