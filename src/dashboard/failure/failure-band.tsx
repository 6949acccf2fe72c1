import type { Child } from "hono/jsx";
import type { Build } from "../../protocol/build.ts";
import type { Excerpt } from "../../services/failure.ts";
import { RelativeTime } from "../components/time.tsx";

const Lines = ({ excerpt, logPage }: { excerpt: Excerpt; logPage: string }) => (
  <ol class="excerpt" aria-label="Lines around the error">
    {excerpt.lines.map(({ offset, text }, index) => (
      <li class={index === excerpt.at && excerpt.errors.length > 0 ? "is-error" : undefined}>
        <a href={`${logPage}#at-${offset}`} aria-label={`To this line of the log: ${text}`}>
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

interface FailureBandProps {
  /** What failed: `test failed, exit 1`. */
  title: Child;
  excerpt: Excerpt | null;
  /** What the service or the agent said of it; shown where the log does not tell. */
  message: string | null;
  buildId: string;
  /** The last build that succeeded before. */
  green: Build | null;
  /** The page whose log has the lines, empty for this one. */
  logPage: string;
  /** The text to give to others. */
  issue: string;
  now: Date;
  /** What else tells of it: tests. */
  children?: Child;
}

/** The failure first: what failed, the line that says why with three around it, and the way to more. */
export const FailureBand = ({
  title,
  excerpt,
  message,
  buildId,
  green,
  logPage,
  issue,
  now,
  children,
}: FailureBandProps) => {
  const error = excerpt && excerpt.errors.length > 0 ? excerpt.lines[excerpt.at] : undefined;
  return (
    <section class="failure" id="failure" aria-labelledby="failure-title">
      <div class="failure-head">
        <h2 id="failure-title">{title}</h2>
        {(error || message) && <bdi class="failure-line">{error ? error.text.trim() : message}</bdi>}
        <p class="failure-more">
          {green && <LastGreen green={green} buildId={buildId} now={now} />}
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
          <button type="button" class="quiet scripted" data-copy={issue}>
            Copy for an issue
          </button>
        </p>
      </div>
      {children}
      {excerpt && <Lines excerpt={excerpt} logPage={logPage} />}
    </section>
  );
};
