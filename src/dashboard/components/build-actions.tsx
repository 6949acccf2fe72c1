import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { countToRetry } from "../jobs/arrange.ts";

/**
 * Asks before the build is canceled. It is a popover, so it opens without a script; the key `c` opens it too. A second
 * cancel of several jobs ends those that clean up after the first.
 */
const Cancel = ({ build, name }: { build: Build; name: string }) => (
  <>
    <button
      type="button"
      popovertarget="cancel"
      data-key="c"
      disabled={build.status === "canceling" && build.jobs === null}
    >
      {build.status === "canceling" && build.jobs ? "Cancel at once" : "Cancel"}
    </button>
    <form id="cancel" class="ask" popover="auto" method="post" action={`/app/builds/${build.id}/cancel`}>
      <p>
        Cancel <strong>#{build.number}</strong> of <bdi>{name}</bdi>?
      </p>
      <span class="actions">
        <button type="submit" class="danger" autofocus>
          Cancel the build
        </button>
        <button type="button" popovertarget="cancel" popovertargetaction="hide">
          Keep it running
        </button>
      </span>
    </form>
  </>
);

/** The links to the pages that ask before they delete. */
const Delete = ({ build, hasLog }: { build: Build; hasLog: boolean }) => (
  <>
    {hasLog && (
      <a class="button danger" href={`/app/builds/${build.id}/log/delete`}>
        Delete log
      </a>
    )}
    <a class="button danger" href={`/app/builds/${build.id}/delete`}>
      Delete build
    </a>
  </>
);

const Retry = ({ build }: { build: Build }) => (
  <form method="post" action={`/app/builds/${build.id}/retry`}>
    <button type="submit" data-key="r">
      Retry
    </button>
  </form>
);

/** Runs the jobs that did not succeed and what depends on them, and takes over the results of the others. */
const RetryFailed = ({ build }: { build: Build }) => {
  const jobs = build.jobs ?? [];
  const number = countToRetry(jobs);
  if (number === 0 || number === jobs.length) return null;
  return (
    <form method="post" action={`/app/builds/${build.id}/retry`}>
      <button type="submit" name="only" value="failed" class="primary" data-key="R">
        Retry failed ({number} of {jobs.length})
      </button>
    </form>
  );
};

interface BuildActionsProps {
  build: Build;
  /** The name of its repository. */
  name: string;
  canDelete: boolean;
  hasLog: boolean;
}

/** What a member may do with the build: retry or delete an ended one, cancel another one. */
export const BuildActions = ({ build, name, canDelete, hasLog }: BuildActionsProps) => (
  <div class="actions">
    {isEnded(build.status) ? (
      <>
        <RetryFailed build={build} />
        <Retry build={build} />
        {canDelete && <Delete build={build} hasLog={hasLog} />}
      </>
    ) : (
      <Cancel build={build} name={name} />
    )}
  </div>
);
