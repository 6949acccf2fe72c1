import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { cancelBuild } from "../../services/builds.ts";
import { retryBuild } from "../../services/retry.ts";
import { Artifacts } from "../artifacts/artifact-list.tsx";
import { BuildFailure } from "../build-page/build-failure.tsx";
import { BuildHead } from "../build-page/build-head.tsx";
import { tabsOf } from "../build-page/build-tabs.ts";
import { type BuildDetails, readBuild } from "../build-page/read-build.ts";
import { ToldTimes } from "../build-page/told-times.tsx";
import { BuildLog, LostAttempts } from "../components/build-log.tsx";
import { nameOf } from "../components/build-name.tsx";
import { BuildSummary } from "../components/build-summary.tsx";
import { EnvironmentKeys } from "../components/environment-keys.tsx";
import { PartTabs, tabAddress, tabOf } from "../components/part-tabs.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { isWaiting } from "../components/state.tsx";
import { WhyWaiting } from "../components/why-waiting.tsx";
import { GateDecision, Gates } from "../jobs/gate-panel.tsx";
import { JobsOfBuild } from "../jobs/jobs-of-build.tsx";
import type { Form, Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { readBuildTests, type ShownTests } from "../tests/read-tests.ts";
import { TestsSection } from "../tests/tests-section.tsx";
import { byId, parseBody } from "../verb-input.ts";
import { StepWaterfall } from "../waterfall/step-waterfall.tsx";

const REFRESH_SECONDS = 2;

/** Not before its turn, and not where it ended before an agent had it. */
const mayHaveLog = ({ status, attempt, jobs }: Build): boolean =>
  jobs === null && !isWaiting(status) && (attempt > 0 || !isEnded(status));

const Messages = ({ build, logTail, successor, failure, failedJob, canceler, refused }: BuildDetails) => (
  <>
    {build.message && !successor && !failure && !failedJob && <p class="message">{build.message}</p>}
    {build.status === "canceled" && !successor && (canceler !== null || build.attempt === 0) && (
      <p class="message">
        {build.attempt === 0 ? "Nothing ran: canceled" : "Canceled"}
        {canceler !== null && (
          <>
            {" "}
            by <bdi>{canceler}</bdi>
          </>
        )}
        {build.attempt === 0 && " before an agent took it"}.
      </p>
    )}
    {refused.map(({ name, reason }) => (
      <p class="message">
        The state <bdi>{name}</bdi> is not at the git host: {reason}
      </p>
    ))}
    {logTail !== null && (
      <LostAttempts
        of={`/app/builds/${build.id}`}
        attempt={build.attempt}
        waits={build.jobs === null && isWaiting(build.status)}
      />
    )}
    {build.leak && (
      <p class="message">The agent's masker missed a secret. The service masked it before the log was stored.</p>
    )}
  </>
);

const titleOf = ({ build, ...owners }: BuildDetails): string =>
  `#${build.number} ${nameOf(owners)}${build.waitsFor.length > 0 ? " waits for approval" : ""}`;

/** The waterfall: of its steps, or of its jobs. */
const Times = (details: BuildDetails & { logPage: string }) => {
  const { build, jobs, usual, steps, now, agent, logPage } = details;
  const told = <ToldTimes of={build} usual={usual.whole} agent={agent} now={now} hasJobs={jobs !== null} />;
  return jobs ? (
    <JobsOfBuild build={build} details={jobs} usual={usual} steps={steps} told={told} />
  ) : (
    <StepWaterfall of={build} now={now} usual={usual} told={told} logPage={logPage} />
  );
};

/** What the chosen tab has. */
const Part = ({ tab, ...details }: BuildDetails & { tab: string | undefined; tests: ShownTests }) => {
  const { build, now } = details;
  if (tab === "log") {
    const isLive = !isEnded(build.status);
    return <BuildLog of={`/app/builds/${build.id}`} attempt={build.attempt} isLive={isLive} tail={details.logTail} />;
  }
  if (tab === "tests") {
    const branch = details.repository?.defaultBranch;
    return <TestsSection shown={details.tests} repoId={build.repoId} branch={branch} />;
  }
  if (tab === "artifacts") return <Artifacts artifacts={details.artifacts} jobs={build.jobs} now={now} />;
  if (tab === "environment") return <EnvironmentKeys keys={build.environment} />;
  return tab === "summary" && build.summary ? <BuildSummary text={build.summary} /> : null;
};

export const buildPage: Page = {
  path: "/builds/:id",
  role: "viewer",
  async show(context, { params, query, problem }) {
    const details = await readBuild(context, params.id);
    const { build, explanation, artifacts } = details;
    const path = `/app/builds/${build.id}`;
    const { environment, summary } = build;
    const hasLog = mayHaveLog(build);
    const tabs = tabsOf({
      hasLog,
      tests: build.tests,
      artifacts: artifacts.length,
      environment,
      hasSummary: summary !== null,
    });
    const tab = tabOf(query, tabs);
    const hasBand = details.failure !== null || details.failedJob !== null;
    const tests = await readBuildTests(context, build, { asPart: tab === "tests", asFailures: hasBand });
    const testsPage = `${tabAddress(path, tabs, "tests")}#parts`;
    const logPage = tab === "log" ? "" : path;
    return {
      title: titleOf(details),
      section: "builds",
      script: "build.js",
      refreshSeconds: isEnded(build.status) ? undefined : REFRESH_SECONDS,
      state: build.status,
      branch: { repoId: build.repoId, name: build.branch },
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <BuildHead details={details} context={context} testsPage={testsPage} />
          <Messages {...details} />
          <Gates build={build} context={context} />
          <GateDecision gate={build.approval} now={context.now} />
          {explanation && !build.waitsFor.some(({ jobId }) => jobId === build.id) && (
            <WhyWaiting why={explanation} canAdd={hasRole(context, "maintainer")} />
          )}
          <BuildFailure {...details} tests={tests} testsPage={testsPage} logPage={logPage} />
          <Times {...details} logPage={logPage} />
          <PartTabs page={path} tabs={tabs} current={tab} />
          <Part {...details} tests={tests} tab={tab} />
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
