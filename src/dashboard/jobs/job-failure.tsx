import { failedText } from "../build-page/build-failure.tsx";
import { nameOf } from "../components/build-name.tsx";
import { FailingTests } from "../failure/failing-tests.tsx";
import { FailureBand } from "../failure/failure-band.tsx";
import { issueText } from "../failure/issue-text.ts";
import type { ShownTests } from "../tests/read-tests.ts";
import { whyOf } from "./cause.tsx";
import type { JobPageDetails } from "./read-job.ts";

interface Props extends JobPageDetails {
  tests: ShownTests;
  testsPage: string;
  logPage: string;
}

/** Why the job failed. Nothing of one that did not. */
export const JobFailure = ({ job, build, failure, green, now, tests, testsPage, logPage, ...owners }: Props) => {
  if (!failure) return null;
  const title = failedText(failure, job);
  const isOfStep = failure.step !== null && job.reason === null;
  return (
    <FailureBand
      title={isOfStep ? <bdi>{title}</bdi> : <>Failed: {whyOf(job)}</>}
      excerpt={failure.excerpt}
      message={failure.step ? null : job.message}
      buildId={build.id}
      green={green}
      logPage={logPage}
      issue={issueText(build, `${job.key}: ${title}`, nameOf(owners), failure.excerpt)}
      now={now}
    >
      <FailingTests reports={tests.reports} counts={job.tests} testsPage={testsPage} />
    </FailureBand>
  );
};
