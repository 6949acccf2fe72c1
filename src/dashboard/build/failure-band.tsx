import type { Build } from "../../protocol/build.ts";
import { jobKeyOf } from "../../services/builds/build-view.ts";
import type { Excerpt, Failure } from "../../services/builds/failure.ts";
import { explainEnd } from "../job/cause.tsx";
import type { Details, OpenedPage } from "../job/details.ts";
import { repositoryName } from "../parts/build-name.tsx";
import { refName } from "../parts/build-origin.tsx";
import { count } from "../parts/format.ts";
import { whyEnded } from "../parts/state.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { FailingTests } from "./tests.tsx";

const FENCE = /`{3,}/g;

/** Returns Markdown for an issue, with the failed build, the failure, and the lines of the log. */
const issueText = (build: Build, title: string, name: string, excerpt: Excerpt | null): string => {
  const where = [refName(build), build.commitSha?.slice(0, 7)].filter(Boolean).join(" at ");
  const heading = `${title} in #${build.number} ${name} (${where})\n${build.webUrl ?? ""}`;
  if (!excerpt) return heading;
  const longest = Math.max(
    2,
    ...excerpt.lines.flatMap(({ text }) => (text.match(FENCE) ?? []).map(({ length }) => length)),
  );
  const fence = "`".repeat(longest + 1);
  return `${heading}\n\n${fence}\n${excerpt.lines.map(({ text }) => text).join("\n")}\n${fence}\n`;
};

const Lines = ({ excerpt, logPage }: { excerpt: Excerpt; logPage: string }) => (
  <ol class="excerpt" aria-label="Lines around the error">
    {excerpt.lines.map(({ offset, text }, index) => (
      <li class={index === excerpt.at && excerpt.errors.length > 0 ? "is-error" : undefined}>
        <a href={`${logPage}#at-${offset}`} aria-label={`Go to this log line: ${text}`}>
          <code>{text || " "}</code>
        </a>
      </li>
    ))}
  </ol>
);

const LastGreen = ({ green, buildId, now }: { green: Build; buildId: string; now: Date }) => (
  <>
    <span>
      last green <a href={`/app/builds/${green.id}`}>#{green.number}</a>,{" "}
      <RelativeTime at={green.finishedAt ?? green.queuedAt} now={now} />
    </span>
    <a href={`/app/builds/${buildId}/compare`}>Compare</a>
  </>
);

const exit = (code: number | null): string => (code === null ? "" : `, exit ${code}`);

/** Returns the failed step, if the step is the reason for the job's failure. */
const cause = ({ job, step }: Failure): { name: string; code: string } | null =>
  step && (step.exitCode !== null || job.reason === null)
    ? { name: step.name, code: exit(step.exitCode ?? job.exitCode) }
    : null;

/** Returns `test failed, exit 1`, or the reason for the failure if no step failed. */
const failedText = (failure: Failure): string => {
  const step = cause(failure);
  return step ? `${step.name} failed${step.code}` : `Failed: ${whyEnded(failure.job) ?? "unknown cause"}`;
};

/**
 * Shows the failure's title.
 * @param page the job's page, if that is another page. The title then names the job, and how many other jobs failed.
 */
const Title = ({ failure, page }: { failure: Failure; page: string | null }) => {
  const { job, others } = failure;
  const step = cause(failure);
  if (page === null) {
    return step ? <bdi>{failedText(failure)}</bdi> : <>Failed: {explainEnd(job) ?? "unknown cause"}</>;
  }
  return (
    <>
      <a href={page}>
        <bdi>{job.key}</bdi>
      </a>
      {step ? (
        <>
          : <bdi>{step.name}</bdi> failed{step.code}
        </>
      ) : (
        <> failed: {explainEnd(job)}</>
      )}
      {others > 0 && <span class="hint"> and {count(others, "more job")} failed</span>}
    </>
  );
};

/** Shows the failure first: what failed, the line that says why (with three lines around it), and links to more. */
export const FailureBand = ({ details, opened }: { details: Details; opened: OpenedPage }) => {
  const { run, build, failure, green, now } = details;
  if (!failure) return null;
  const { job, step, excerpt } = failure;
  const jobPage = job.id === run.id ? null : `/app/jobs/${job.id}`;
  const logPage = jobPage ?? opened.logPage;
  const error = excerpt && excerpt.errors.length > 0 ? excerpt.lines[excerpt.at] : undefined;
  const message = step ? null : job.message;
  const key = jobKeyOf(build, job);
  const title = `${key === null ? "" : `${key}: `}${failedText(failure)}`;
  return (
    <section class="failure" id="failure" aria-labelledby="failure-title">
      <div class="failure-head">
        <h2 id="failure-title">
          <Title failure={failure} page={jobPage} />
        </h2>
        {(error || message) && <bdi class="failure-line">{error ? error.text.trim() : message}</bdi>}
        <p class="failure-more">
          {green && <LastGreen green={green} buildId={build.id} now={now} />}
          {excerpt && excerpt.errors.length > 1 && (
            <button
              type="button"
              class="quiet scripted"
              id="next-error"
              data-key="n"
              data-errors={excerpt.errors.join(" ")}
              data-page={logPage}
            >
              next error <kbd>n</kbd>
            </button>
          )}
          <button
            type="button"
            class="quiet scripted"
            data-copy={issueText(build, title, repositoryName(details), excerpt)}
          >
            Copy for an issue
          </button>
        </p>
      </div>
      <FailingTests reports={opened.tests.reports} counts={run.tests} testsPage={opened.testsPage} />
      {excerpt && <Lines excerpt={excerpt} logPage={logPage} />}
    </section>
  );
};
