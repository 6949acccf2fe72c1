import { cancelJob } from "../../services/build-jobs.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { approve, reject } from "../../services/gates.ts";
import { Artifacts } from "../artifacts/artifact-list.tsx";
import { tabsOf } from "../build-page/build-tabs.ts";
import { ToldTimes } from "../build-page/told-times.tsx";
import { BuildLog, LostAttempts } from "../components/build-log.tsx";
import { nameOf } from "../components/build-name.tsx";
import { BuildSummary } from "../components/build-summary.tsx";
import { CancelButton } from "../components/cancel-button.tsx";
import { EnvironmentKeys } from "../components/environment-keys.tsx";
import { PartTabs, tabAddress, tabOf } from "../components/part-tabs.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { WhyWaiting } from "../components/why-waiting.tsx";
import { readText } from "../form-fields.ts";
import { hasEnded, stateOf } from "../jobs/arrange.ts";
import { GateDecision, GatePanel } from "../jobs/gate-panel.tsx";
import { JobFacts, JobOutputs } from "../jobs/job-facts.tsx";
import { JobFailure } from "../jobs/job-failure.tsx";
import { type JobPageDetails, readJob } from "../jobs/read-job.ts";
import type { Form, Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { readJobTests, type ShownTests } from "../tests/read-tests.ts";
import { TestsSection } from "../tests/tests-section.tsx";
import { byId, parseBody } from "../verb-input.ts";
import { StepWaterfall } from "../waterfall/step-waterfall.tsx";
import { buildPage } from "./build.tsx";

const REFRESH_SECONDS = 2;

const pathOf = ({ id }: { id: string }): string => `/app/jobs/${id}`;

const Head = ({ job, mayCancel }: JobPageDetails & { mayCancel: boolean }) => (
  <div class="head">
    <h1>
      <bdi>{job.name}</bdi>
    </h1>
    {mayCancel && !hasEnded(job) && (
      <div class="actions">
        <CancelButton action={`${pathOf(job)}/cancel`} noun="job" disabled={job.status === "canceling"}>
          Cancel <bdi>{job.key}</bdi>? Jobs that need it do not run.
        </CancelButton>
      </div>
    )}
  </div>
);

const Messages = ({ job, now, logTail, failure }: JobPageDetails) => (
  <>
    {job.message && !failure && <p class="message">{job.message}</p>}
    <GateDecision gate={job.gate} now={now} />
    {logTail !== null && job.adoptedFrom === null && (
      <LostAttempts
        of={pathOf(job)}
        attempt={job.attempt}
        waits={job.status === "queued"}
        hasFailed={(job.retries ?? 0) > 0}
      />
    )}
    {job.leak && (
      <p class="message">The agent's masker missed a secret. The service masked it before the log was stored.</p>
    )}
  </>
);

/** What the chosen tab has. */
const Part = ({ tab, ...details }: JobPageDetails & { tab: string | undefined; tests: ShownTests }) => {
  const { job, build, now, logTail } = details;
  if (tab === "log" && logTail !== undefined)
    return <BuildLog of={pathOf(job)} attempt={job.attempt} isLive={!hasEnded(job)} tail={logTail} />;
  if (tab === "tests") {
    const branch = details.repository?.defaultBranch;
    return <TestsSection shown={details.tests} repoId={build.repoId} branch={branch} />;
  }
  if (tab === "artifacts") return <Artifacts artifacts={details.artifacts} jobs={null} now={now} />;
  if (tab === "environment") return <EnvironmentKeys keys={job.environment} />;
  if (tab === "outputs") return <JobOutputs outputs={job.outputs} />;
  return tab === "summary" && job.summary ? <BuildSummary text={job.summary} /> : null;
};

const jobPage: Page = {
  path: "/jobs/:id",
  role: "viewer",
  async show(context, { params, query, problem, form }) {
    const details = await readJob(context, params.id);
    const { job, build, now, explanation, usual, agent } = details;
    const { gate, environment } = job;
    const asks = stateOf(job) === "asking";
    const tabs = tabsOf({
      ...{
        tests: job.tests,
        environment,
        artifacts: details.artifacts.length,
        outputs: Object.keys(job.outputs).length,
      },
      ...{ hasLog: details.logTail !== undefined, hasSummary: job.summary !== null },
    });
    const tab = tabOf(query, tabs);
    const tests = await readJobTests(context, job, { asPart: tab === "tests", asFailures: details.failure !== null });
    const testsPage = `${tabAddress(pathOf(job), tabs, "tests")}#parts`;
    const logPage = tab === "log" ? "" : pathOf(job);
    return {
      title: `${job.name} of #${build.number} ${nameOf(details)}${asks ? " waits for approval" : ""}`,
      section: "builds",
      crumb: job.name,
      trail: [
        { name: "Builds", href: "/app/builds" },
        { name: `#${build.number} ${nameOf(details)}`, href: `/app/builds/${build.id}` },
      ],
      script: "build.js",
      refreshSeconds: hasEnded(job) ? undefined : REFRESH_SECONDS,
      state: stateOf(job),
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <Head {...details} mayCancel={hasRole(context, "member")} />
          <JobFacts {...details} testsPage={testsPage} />
          <Messages {...details} />
          {asks && gate && (
            <GatePanel
              jobId={job.id}
              build={build}
              name={job.key}
              gate={gate}
              now={now}
              mayAnswer={hasRole(context, gate.by)}
              comment={form?.get("comment") ?? ""}
            />
          )}
          {explanation && <WhyWaiting why={explanation} canAdd={hasRole(context, "maintainer")} />}
          <JobFailure {...details} tests={tests} testsPage={testsPage} logPage={logPage} />
          <StepWaterfall
            of={job}
            now={now}
            usual={usual}
            told={<ToldTimes of={job} usual={usual.whole} agent={agent} now={now} />}
            logPage={logPage}
          />
          <PartTabs page={pathOf(job)} tabs={tabs} current={tab} />
          <Part {...details} tests={tests} tab={tab} />
        </>
      ),
    };
  },
};

const cancelForm: Form = {
  path: "/jobs/:id/cancel",
  access: cancelJob.access,
  page: jobPage,
  async submit(context, { params }) {
    await cancelJob.run(context, byId(params.id));
    return { to: `/app/jobs/${params.id}`, notice: "job-canceled" };
  },
};

/** What the answer is about: a job, or the build of a stranger itself. */
const askedPage: Page = {
  ...jobPage,
  show: async (context, request) =>
    (await nullIfNotFound(jobPage.show(context, request))) ?? buildPage.show(context, request),
};

/** The form of an answer at a gate. A person then sees the build go on, or end. */
const answerForm = (word: "approve" | "reject", verb: typeof approve, notice: string): Form => ({
  path: `/jobs/:id/${word}`,
  access: verb.access,
  page: askedPage,
  async submit(context, { params, form }) {
    const body = parseBody(verb.body, { comment: readText(form, "comment"), commitSha: form.get("commitSha") });
    const { id } = await verb.run(context, { ...byId(params.id), body });
    return { to: `/app/builds/${id}`, notice };
  },
});

export const jobPages: Page[] = [jobPage];
export const jobForms: Form[] = [
  cancelForm,
  answerForm("approve", approve, "approved"),
  answerForm("reject", reject, "rejected"),
];
