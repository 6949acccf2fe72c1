import { CommaList } from "../parts/lists.tsx";

interface LostAttemptsProps {
  /** The path of the build or the job that they are of. */
  path: string;
  lost: number;
  /** Whether some of them failed, and the job was tried again. */
  hasFailed?: boolean;
}

/** The attempts before the present one. Their logs are kept. */
export const LostAttempts = ({ path, lost, hasFailed = false }: LostAttemptsProps) =>
  lost > 0 ? (
    <p class="message" id="lost-attempts">
      {hasFailed ? "Earlier attempts:" : "Ended without a result:"}{" "}
      <CommaList
        items={Array.from({ length: lost }, (_, index) => (
          <a href={`${path}/log?attempt=${index + 1}`}>log of attempt {index + 1}</a>
        ))}
      />
    </p>
  ) : null;

interface BuildLogProps {
  /** The path of the build or the job that it is of. */
  path: string;
  attempt: number;
  isLive: boolean;
  /** The end of the log as text; null when it was deleted. */
  tail: string | null;
}

/** The log. The page's script replaces `tail` with a view of the whole log. */
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
      <section class="log-lines" tabindex={0} aria-label="Lines of the log">
        <pre>{tail || "No output yet."}</pre>
      </section>
      <p class="log-printed">
        The whole log is at <a href={source}>{source}</a>.
      </p>
    </div>
  );
};
