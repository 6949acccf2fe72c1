import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { FoundBuild } from "../../services/builds/builds.ts";
import { countToRetry } from "../../services/builds/retry.ts";
import type { Context } from "../../services/core/context.ts";
import { hasEnded } from "../job/arrange.ts";
import type { BuildDetails } from "../job/details.ts";
import { BuildName, repositoryName } from "../parts/build-name.tsx";
import { OriginOfBuild, refName } from "../parts/build-origin.tsx";
import { CancelButton } from "../parts/cancel-button.tsx";
import { CopiedCode } from "../parts/copied-code.tsx";
import { StateWord, unaskedEnd, whyEnded } from "../parts/state.tsx";
import { Elapsed, RelativeTime } from "../parts/time.tsx";
import { hasRole } from "../shell/page-definition.ts";
import { TestsLine } from "./tests.tsx";

/** Shows the cancel button. A second cancel ends the clean-up jobs that run after the first cancel. */
const Cancel = ({ build: { id, number, status, jobs }, name }: { build: FoundBuild; name: string }) => {
  const isAgain = status === "canceling";
  const mayStop = !isAgain || jobs.some((job) => !hasEnded(job) && job.status !== "canceling");
  return (
    <CancelButton
      action={`/app/builds/${id}/cancel`}
      noun="build"
      label={isAgain && mayStop ? "Cancel now" : "Cancel"}
      disabled={!mayStop}
    >
      Cancel <strong>#{number}</strong> in <bdi>{name}</bdi>?{isAgain && " This also stops cleanup jobs."}
    </CancelButton>
  );
};

/** Links to the pages that confirm a deletion. */
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

/** Shows the button that reruns the unsuccessful jobs and their dependents. The new build adopts the other results. */
const RetryFailed = ({ build, number }: { build: FoundBuild; number: number }) => (
  <form method="post" action={`/app/builds/${build.id}/retry`}>
    <button type="submit" name="only" value="failed" class="primary" data-key="R">
      Retry failed ({number} of {build.jobs.length})
    </button>
  </form>
);

interface BuildActionsProps {
  build: FoundBuild;
  /** The repository's name. */
  name: string;
  canDelete: boolean;
  hasLog: boolean;
}

/** Shows a member's actions: retry or delete an ended build, or cancel a build that has not ended. */
const BuildActions = ({ build, name, canDelete, hasLog }: BuildActionsProps) => {
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

/** Shows why the build ended in this way, unless the failure below already says it. */
const Outcome = ({ build, successor }: BuildDetails) => {
  if (successor) {
    return (
      <span>
        superseded by <a href={`/app/builds/${successor.id}`}>#{successor.number}</a>
      </span>
    );
  }
  const word = unaskedEnd(build);
  return word ? (
    <span>
      {word}: {whyEnded(build)}
    </span>
  ) : null;
};

const Facts = ({ details, testsPage }: { details: BuildDetails; testsPage: string }) => {
  const { build, body, now } = details;
  const agent = "agent" in body ? body.agent : null;
  return (
    <div class="facts">
      <StateWord state={build.status} />
      {build.waitsFor.length > 0 && <StateWord state="asking" />}
      {build.startedAt ? (
        <Elapsed from={build.startedAt} to={build.finishedAt} now={now} />
      ) : (
        !isEnded(build.status) && <Elapsed from={build.queuedAt} to={null} now={now} />
      )}
      <Outcome {...details} />
      <TestsLine tests={build.tests} href={testsPage} />
      <span>
        <BuildName number={build.number} {...details} />
      </span>
      <OriginOfBuild build={build} />
      <bdi class="branch">{refName(build)}</bdi>
      {build.commitSha && <CopiedCode text={build.commitSha} label={build.commitSha.slice(0, 7)} />}
      {agent && (
        <span>
          on <bdi>{agent.name}</bdi>
        </span>
      )}
      {build.attempt > 1 && <span>attempt {build.attempt}</span>}
      <span>
        queued <RelativeTime at={build.queuedAt} now={now} />
      </span>
      {build.retryOf && (
        <a href={`/app/builds/${build.retryOf}`}>
          {details.retried ? `retry of #${details.retried.number}` : "retry of an earlier build"}
        </a>
      )}
    </div>
  );
};

interface BuildHeadProps {
  details: BuildDetails;
  context: Context;
  testsPage: string;
}

/** Shows the build's subject, its state, and its actions. */
export const BuildHead = ({ details, context, testsPage }: BuildHeadProps) => {
  const { build } = details;
  const hasLog = build.attempt > 0 && details.body.logTail !== null;
  return (
    <>
      <div class="head">
        <h1>{build.subject ? <bdi>{build.subject}</bdi> : `#${build.number} ${repositoryName(details)}`}</h1>
        {hasRole(context, "member") && (
          <BuildActions
            build={build}
            name={repositoryName(details)}
            canDelete={hasRole(context, "maintainer")}
            hasLog={hasLog}
          />
        )}
      </div>
      <Facts details={details} testsPage={testsPage} />
    </>
  );
};
