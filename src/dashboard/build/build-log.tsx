import { CommaList } from "../parts/lists.tsx";

interface LogNotesProps {
  /** The path of the build or the job. */
  path: string;
  /** The end of the log; null if the log was deleted. */
  logTail: string | null | undefined;
  lost: number;
  /** Whether some earlier attempts failed, after which the job was retried. */
  hasFailed?: boolean;
  leak: boolean;
}

/** Links to the logs of earlier attempts, which the service keeps. */
const LostAttempts = ({ path, lost, hasFailed }: Pick<LogNotesProps, "path" | "lost" | "hasFailed">) =>
  lost > 0 ? (
    <p class="message" id="lost-attempts">
      {hasFailed ? "Earlier attempts:" : "Lost attempts:"}{" "}
      <CommaList
        items={Array.from({ length: lost }, (_, index) => (
          <a href={`${path}/log?attempt=${index + 1}`}>attempt {index + 1} log</a>
        ))}
      />
    </p>
  ) : null;

/** Shows notes about logs: links to earlier attempts, and whether the service had to mask a secret. */
export const LogNotes = ({ path, logTail, lost, hasFailed = false, leak }: LogNotesProps) => (
  <>
    {logTail !== null && <LostAttempts path={path} lost={lost} hasFailed={hasFailed} />}
    {leak && <p class="message">The agent did not mask a secret. The service masked it before storing the log.</p>}
  </>
);

interface BuildLogProps {
  /** The path of the build or the job. */
  path: string;
  attempt: number;
  isLive: boolean;
  /** The end of the log as text; null if the log was deleted. */
  tail: string | null;
}

/** Shows the log. The page's script replaces `tail` with a view of the whole log. */
export const LogPanel = ({ path, attempt, isLive, tail }: BuildLogProps) => {
  if (tail === null) return <p class="empty">The log of this build was deleted.</p>;
  const source = `${path}/log`;
  return (
    <div
      id="log"
      class="log"
      data-keep
      data-src={source}
      data-attempt={attempt}
      data-live={isLive ? "true" : undefined}
    >
      <div class="log-bar">
        <h2 class="sr">Log</h2>
        <a href={source} class="button quiet">
          Raw
        </a>
      </div>
      <section class="log-lines" tabindex={0} aria-label="Log lines">
        <pre>{tail || "No output yet."}</pre>
      </section>
      <p class="log-printed">
        Full log: <a href={source}>{source}</a>
      </p>
    </div>
  );
};
