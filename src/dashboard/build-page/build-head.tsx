import { isEnded } from "../../protocol/build-states.ts";
import type { Context } from "../../services/core/context.ts";
import { outcomeOf, unaskedEnd } from "../build-outcome.ts";
import { BuildActions } from "../components/build-actions.tsx";
import { BuildName, nameOf } from "../components/build-name.tsx";
import { Origin } from "../components/build-origin.tsx";
import { CopiedCode } from "../components/copied-code.tsx";
import { StateWord } from "../components/state.tsx";
import { Elapsed, RelativeTime } from "../components/time.tsx";
import { hasRole } from "../permissions.ts";
import { refName } from "../ref-name.ts";
import { TestsLine } from "../tests/tests-section.tsx";
import type { BuildDetails } from "./read-build.ts";

/** Why it ended so, where the failure below does not tell. */
const Outcome = ({ build, successor }: BuildDetails) => {
  if (successor) {
    return (
      <span>
        superseded by <a href={`/app/builds/${successor.id}`}>build {successor.number}</a>
      </span>
    );
  }
  const word = unaskedEnd(build);
  return word ? (
    <span>
      {word}: {outcomeOf(build)}
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
      <Origin build={build} />
      <bdi class="branch">{refName(build)}</bdi>
      {build.commitSha && <CopiedCode text={build.commitSha} shown={build.commitSha.slice(0, 7)} />}
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

/** What the build is of, how it stands, and what one may do with it. */
export const BuildHead = ({ details, context, testsPage }: BuildHeadProps) => {
  const { build } = details;
  const hasLog = build.attempt > 0 && details.body.logTail !== null;
  return (
    <>
      <div class="head">
        <h1>{build.subject ? <bdi>{build.subject}</bdi> : `#${build.number} ${nameOf(details)}`}</h1>
        {hasRole(context, "member") && (
          <BuildActions
            build={build}
            name={nameOf(details)}
            canDelete={hasRole(context, "maintainer")}
            hasLog={hasLog}
          />
        )}
      </div>
      <Facts details={details} testsPage={testsPage} />
    </>
  );
};
