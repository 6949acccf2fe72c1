import type { Agent } from "../../protocol/agent.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { TestReport } from "../../protocol/test-report.ts";
import { getAgent } from "../../services/agents.ts";
import { listBuildArtifacts } from "../../services/artifacts.ts";
import { cancelBuild, findRecord } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { explainBuild } from "../../services/explain.ts";
import { retryBuild } from "../../services/retry.ts";
import { Artifacts } from "../artifacts/artifact-list.tsx";
import { outcomeOf, unaskedEnd } from "../build-outcome.ts";
import { BuildActions } from "../components/build-actions.tsx";
import { BuildLog, LostAttempts } from "../components/build-log.tsx";
import { BuildName, nameOf, type Owners, readOwners } from "../components/build-name.tsx";
import { CommitSubject, OriginFacts } from "../components/build-origin.tsx";
import { BuildSteps } from "../components/build-steps.tsx";
import { BuildSummary } from "../components/build-summary.tsx";
import { EnvironmentKeys } from "../components/environment-keys.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { isWaiting, StateWord } from "../components/state.tsx";
import { Elapsed, RelativeTime } from "../components/time.tsx";
import { WhyWaiting } from "../components/why-waiting.tsx";
import { Gates } from "../jobs/gate-panel.tsx";
import { FirstFailed, JobsOfBuild } from "../jobs/jobs-of-build.tsx";
import { type JobDetails, readJobDetails } from "../jobs/read-job-details.ts";
import { readLogTail } from "../log-tail.ts";
import type { Form, Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { readTests } from "../tests/read-tests.ts";
import { TestsLine, TestsSection } from "../tests/tests-section.tsx";
import { byId, nullIfNotFound, parseBody } from "../verb-input.ts";

const REFRESH_SECONDS = 2;

interface BuildDetails extends Owners {
  build: Build;
  now: Date;
  agent: Agent | null;
  /** The build that took its place. */
  successor: Build | null;
  /** Why a queued build waits. */
  explanation: Explanation | null;
  /** The end of the log, for a browser without scripts; null when the log was deleted. */
  logTail: string | null;
  /** Of a build of several jobs. */
  jobs: JobDetails | null;
  /** What its jobs left so far. */
  artifacts: Artifact[];
  tests: TestReport[] | null;
}

const readDetails = async (context: Context, id: string | undefined): Promise<BuildDetails> => {
  const reading = findRecord(context, id ?? "");
  const [build, owners] = await Promise.all([reading, readOwners(context, reading)]);
  const isOfOne = build.jobs === null;
  const waits = isWaiting(build.status);
  const [agent, successor, explanation, logTail, jobs, artifacts, tests] = await Promise.all([
    isOfOne && build.agentId !== null ? nullIfNotFound(getAgent.run(context, byId(build.agentId))) : null,
    build.supersededBy === null ? null : nullIfNotFound(findRecord(context, build.supersededBy)),
    isOfOne && waits ? explainBuild.run(context, byId(build.id)) : null,
    isOfOne && !waits ? readLogTail(context, build) : "",
    build.jobs && readJobDetails(context, build.jobs),
    isOfOne && !isEnded(build.status) ? [] : listBuildArtifacts.run(context, byId(build.id)),
    readTests(context, build, "build"),
  ]);
  return { build, now: context.now, ...owners, agent, successor, explanation, logTail, jobs, artifacts, tests };
};

const Outcome = ({ build, successor }: BuildDetails) => {
  if (successor) {
    return (
      <span>
        superseded by <a href={`/app/builds/${successor.id}`}>build {successor.number}</a>
      </span>
    );
  }
  const outcome = outcomeOf(build);
  const word = unaskedEnd(build);
  return word ? (
    <span>
      {word}: {outcome}
    </span>
  ) : (
    outcome && <span class="outcome">{outcome}</span>
  );
};

const Facts = (details: BuildDetails) => {
  const { build, now, agent } = details;
  return (
    <p class="facts">
      <StateWord state={build.status} />
      {build.startedAt ? (
        <Elapsed from={build.startedAt} to={build.finishedAt} now={now} />
      ) : (
        !isEnded(build.status) && <Elapsed from={build.queuedAt} to={null} now={now} />
      )}
      {build.waitsFor.length > 0 && <StateWord state="asking" />}
      <Outcome {...details} />
      <TestsLine tests={build.tests} />
      {build.status === "failed" && build.jobs && <FirstFailed jobs={build.jobs} />}
      <span class="branch">{build.tag ?? build.branch}</span>
      {build.commitSha && <code title={build.commitSha}>{build.commitSha.slice(0, 7)}</code>}
      {agent && <span>{agent.name}</span>}
      {build.attempt > 1 && <span>attempt {build.attempt}</span>}
      <span>
        queued <RelativeTime at={build.queuedAt} now={now} />
      </span>
      {build.retryOf && <a href={`/app/builds/${build.retryOf}`}>retry of an earlier build</a>}
    </p>
  );
};

/** Not before its turn, and not where it ended before an agent had it. */
const mayHaveLog = ({ status, attempt }: Build): boolean => !isWaiting(status) && (attempt > 0 || !isEnded(status));

const Messages = ({ build, logTail, successor }: BuildDetails) => (
  <>
    {build.message && !successor && <p class="message">{build.message}</p>}
    {logTail !== null && (
      <LostAttempts of={`/app/builds/${build.id}`} attempt={build.attempt} waits={isWaiting(build.status)} />
    )}
    {build.leak && (
      <p class="message">The agent's masker missed a secret. The service masked it before the log was stored.</p>
    )}
  </>
);

/** Steps and log of a build of one job. */
const OneJob = ({ build, now, logTail }: BuildDetails) => (
  <>
    <BuildSteps steps={build.steps} now={now} />
    {mayHaveLog(build) && (
      <BuildLog of={`/app/builds/${build.id}`} attempt={build.attempt} isLive={!isEnded(build.status)} tail={logTail} />
    )}
  </>
);

const titleOf = ({ build, ...owners }: BuildDetails): string =>
  `#${build.number} ${nameOf(owners)}${build.waitsFor.length > 0 ? " waits for approval" : ""}`;

export const buildPage: Page = {
  path: "/builds/:id",
  role: "viewer",
  async show(context, { params, problem }) {
    const details = await readDetails(context, params.id);
    const { build, explanation, jobs } = details;
    const canDelete = hasRole(context, "maintainer");
    const hasLog = build.attempt > 0 && details.logTail !== null;
    return {
      title: titleOf(details),
      section: "builds",
      script: "build.js",
      refreshSeconds: isEnded(build.status) ? undefined : REFRESH_SECONDS,
      state: build.status,
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <div class="head">
            <h1>
              <BuildName number={build.number} {...details} />
            </h1>
            {hasRole(context, "member") && (
              <BuildActions build={build} name={nameOf(details)} canDelete={canDelete} hasLog={hasLog} />
            )}
          </div>
          <CommitSubject build={build} />
          <Facts {...details} />
          <OriginFacts build={build} />
          <Messages {...details} />
          <Gates build={build} context={context} />
          {explanation && <WhyWaiting why={explanation} canAdd={canDelete} />}
          {jobs ? <JobsOfBuild build={build} details={jobs} /> : <OneJob {...details} />}
          <TestsSection reports={details.tests} repoId={build.repoId} branch={details.repository?.defaultBranch} />
          <Artifacts artifacts={details.artifacts} jobs={build.jobs} now={details.now} />
          {build.summary && <BuildSummary text={build.summary} />}
          <EnvironmentKeys keys={build.environment} />
        </>
      ),
    };
  },
};

export const cancelForm: Form = {
  path: "/builds/:id/cancel",
  access: cancelBuild.access,
  page: buildPage,
  async submit(context, { params }) {
    await cancelBuild.run(context, byId(params.id));
    return { to: `/app/builds/${params.id}`, notice: "canceled" };
  },
};

export const retryForm: Form = {
  path: "/builds/:id/retry",
  access: retryBuild.access,
  page: buildPage,
  async submit(context, { params, form }) {
    const body = parseBody(retryBuild.body, { only: form.get("only") });
    const { id } = await retryBuild.run(context, { ...byId(params.id), body });
    return { to: `/app/builds/${id}`, notice: "triggered" };
  },
};
