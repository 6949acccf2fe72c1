import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { isWaiting } from "./state.tsx";

/** The attempts that ended without a result. Their logs are kept. */
export const LostAttempts = ({ build: { id, status, attempt } }: { build: Build }) => {
  const lost = isWaiting(status) ? attempt : attempt - 1;
  return lost > 0 ? (
    <p class="message" id="lost-attempts">
      Ended without a result:{" "}
      {Array.from({ length: lost }, (_, index) => (
        <>
          {index > 0 && ", "}
          <a href={`/app/builds/${id}/log?attempt=${index + 1}`}>log of attempt {index + 1}</a>
        </>
      ))}
    </p>
  ) : null;
};

/** The log. The page's script replaces `tail`, the end of the log as text, with a view of the whole log. */
export const BuildLog = ({ build, tail }: { build: Build; tail: string | null }) => {
  if (tail === null) return <p class="empty">The log of this build was deleted.</p>;
  const source = `/app/builds/${build.id}/log`;
  return (
    <div
      id="log"
      class="log"
      data-keep
      data-src={source}
      data-attempt={build.attempt}
      data-live={isEnded(build.status) ? undefined : "true"}
    >
      <div class="log-bar">
        <h2>Log</h2>
        <a href={source}>Raw</a>
      </div>
      <section class="log-lines" tabindex={0} aria-label="Lines of the log">
        <pre>{tail || "No output yet."}</pre>
      </section>
    </div>
  );
};
