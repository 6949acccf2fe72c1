import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { FoundBuild } from "../../services/builds.ts";
import { countToRetry } from "../../services/jobs-to-retry.ts";
import { hasEnded } from "../jobs/arrange.ts";
import { CancelButton } from "./cancel-button.tsx";

/** A second cancel ends the jobs that clean up after the first. */
const Cancel = ({ build: { id, number, status, jobs }, name }: { build: FoundBuild; name: string }) => {
  const isAgain = status === "canceling";
  const mayStop = !isAgain || jobs.some((job) => !hasEnded(job) && job.status !== "canceling");
  return (
    <CancelButton
      action={`/app/builds/${id}/cancel`}
      noun="build"
      label={isAgain && mayStop ? "Cancel at once" : "Cancel"}
      disabled={!mayStop}
    >
      Cancel <strong>#{number}</strong> of <bdi>{name}</bdi>?{isAgain && " Jobs that clean up are stopped too."}
    </CancelButton>
  );
};

/** The links to the pages that ask before they delete. */
const Delete = ({ build, hasLog }: { build: Build; hasLog: boolean }) => (
  <details class="menu" id="more-actions">
    <summary class="button">More</summary>
    <div class="menu-list">
      {hasLog && (
        <a class="danger" href={`/app/builds/${build.id}/log/delete`}>
          Delete log
        </a>
      )}
      <a class="danger" href={`/app/builds/${build.id}/delete`}>
        Delete build
      </a>
    </div>
  </details>
);

const Retry = ({ build, isPrimary }: { build: Build; isPrimary: boolean }) => (
  <form method="post" action={`/app/builds/${build.id}/retry`}>
    <button type="submit" class={isPrimary ? "primary" : undefined} data-key="r">
      Retry
    </button>
  </form>
);

/** Runs the jobs that did not succeed and what depends on them, and takes over the results of the others. */
const RetryFailed = ({ build, number }: { build: FoundBuild; number: number }) => (
  <form method="post" action={`/app/builds/${build.id}/retry`}>
    <button type="submit" name="only" value="failed" class="primary" data-key="R">
      Retry failed ({number} of {build.jobs.length})
    </button>
  </form>
);

interface BuildActionsProps {
  build: FoundBuild;
  /** The name of its repository. */
  name: string;
  canDelete: boolean;
  hasLog: boolean;
}

/** What a member may do with the build: retry or delete an ended one, cancel another one. */
export const BuildActions = ({ build, name, canDelete, hasLog }: BuildActionsProps) => {
  const toRetry = countToRetry(build.jobs);
  const isPartly = toRetry > 0 && toRetry < build.jobs.length;
  return (
    <div class="actions">
      {isEnded(build.status) ? (
        <>
          {isPartly && <RetryFailed build={build} number={toRetry} />}
          <Retry build={build} isPrimary={build.status === "failed" && !isPartly} />
          {canDelete && <Delete build={build} hasLog={hasLog} />}
        </>
      ) : (
        <Cancel build={build} name={name} />
      )}
    </div>
  );
};
