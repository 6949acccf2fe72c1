import type { Child } from "hono/jsx";
import type { Failure } from "../../services/failure.ts";
import { outcomeOf } from "../build-outcome.ts";
import { nameOf } from "../components/build-name.tsx";
import { count } from "../count.ts";
import { FailingTests } from "../failure/failing-tests.tsx";
import { FailureBand } from "../failure/failure-band.tsx";
import { issueText } from "../failure/issue-text.ts";
import { whyOf } from "../jobs/cause.tsx";
import type { ShownTests } from "../tests/read-tests.ts";
import type { BuildDetails } from "./read-build.ts";

const exit = (code: number | null): string => (code === null ? "" : `, exit ${code}`);

/** `test failed, exit 1`, or why it failed where no step did. */
export const failedText = ({ step }: Failure, of: Parameters<typeof outcomeOf>[0]): string =>
  step && (step.exitCode !== null || of.reason === null)
    ? `${step.name} failed${exit(step.exitCode ?? of.exitCode)}`
    : `Failed: ${outcomeOf(of) ?? "nothing more is known"}`;

interface Props extends BuildDetails {
  tests: ShownTests;
  testsPage: string;
  logPage: string;
}

const OfOne = ({ build, failure, green, now, tests, testsPage, logPage, ...owners }: Props & { failure: Failure }) => {
  const title = failedText(failure, build);
  return (
    <FailureBand
      title={<bdi>{title}</bdi>}
      excerpt={failure.excerpt}
      message={failure.step ? null : build.message}
      buildId={build.id}
      green={green}
      logPage={logPage}
      issue={issueText(build, title, nameOf(owners), failure.excerpt)}
      now={now}
    >
      <FailingTests reports={tests.reports} counts={build.tests} testsPage={testsPage} />
    </FailureBand>
  );
};

const OfJob = ({ build, failedJob, green, now, tests, testsPage, ...owners }: Props) => {
  if (!failedJob) return null;
  const { job, failure, others } = failedJob;
  const page = `/app/jobs/${job.id}`;
  const isOfStep = failure.step !== null && job.reason === null;
  const told: Child = isOfStep ? (
    <>
      : <bdi>{failure.step?.name}</bdi> failed{exit(failure.step?.exitCode ?? job.exitCode)}
    </>
  ) : (
    <> failed: {whyOf(job)}</>
  );
  const title = (
    <>
      <a href={page}>
        <bdi>{job.key}</bdi>
      </a>
      {told}
      {others > 0 && <span class="hint"> and {count(others, "more job")} failed</span>}
    </>
  );
  const text = `${job.key}: ${failedText(failure, job)}`;
  return (
    <FailureBand
      title={title}
      excerpt={failure.excerpt}
      message={failure.step ? null : job.message}
      buildId={build.id}
      green={green}
      logPage={page}
      issue={issueText(build, text, nameOf(owners), failure.excerpt)}
      now={now}
    >
      <FailingTests reports={tests.reports} counts={build.tests} testsPage={testsPage} />
    </FailureBand>
  );
};

/** Why the build failed, before anything else of it. Nothing of one that did not. */
export const BuildFailure = (props: Props) =>
  props.failure ? <OfOne {...props} failure={props.failure} /> : <OfJob {...props} />;
