import type { Agent } from "../../protocol/agent.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Build } from "../../protocol/build.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import type { TestReport } from "../../protocol/test-report.ts";
import { getAgent } from "../../services/agents.ts";
import { listJobArtifacts } from "../../services/artifacts.ts";
import { cancelJob, explainJob, getJob } from "../../services/build-jobs.ts";
import { findRecord } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { approve, reject } from "../../services/gates.ts";
import { Artifacts } from "../artifacts/artifact-list.tsx";
import { BuildLog, LostAttempts } from "../components/build-log.tsx";
import { BuildName, nameOf, type Owners, readOwners } from "../components/build-name.tsx";
import { BuildSteps } from "../components/build-steps.tsx";
import { BuildSummary } from "../components/build-summary.tsx";
import { CancelButton } from "../components/cancel-button.tsx";
import { EnvironmentKeys } from "../components/environment-keys.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { WhyWaiting } from "../components/why-waiting.tsx";
import { readText } from "../form-fields.ts";
import { hasEnded, isYetToRun, stateOf } from "../jobs/arrange.ts";
import { GateDecision, GatePanel } from "../jobs/gate-panel.tsx";
import { JobFacts, JobOutputs } from "../jobs/job-facts.tsx";
import { readLogTail } from "../log-tail.ts";
import type { Form, Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { readTests } from "../tests/read-tests.ts";
import { TestsSection } from "../tests/tests-section.tsx";
import { byId, nullIfNotFound, parseBody } from "../verb-input.ts";

const REFRESH_SECONDS = 2;

interface Details extends Owners {
  job: BuildJob;
  build: Build;
  now: Date;
  agent: Agent | null;
  /** Why a job that nobody has to approve waits. */
  explanation: Explanation | null;
  /** The end of the log; null when it was deleted, undefined where there is none. */
  logTail: string | null | undefined;
  artifacts: Artifact[];
  tests: TestReport[] | null;
}

/** An agent had it, and a build before this one did not. */
const hasLog = (job: BuildJob): boolean => !isYetToRun(job) && job.attempt > 0 && job.adoptedFrom === null;

const readDetails = async (context: Context, id: string | undefined): Promise<Details> => {
  const job = await getJob.run(context, byId(id));
  const reading = findRecord(context, job.buildId);
  const readTail = async () => {
    if (!hasLog(job)) return undefined;
    const { isLogDeleted, orgId } = await reading;
    const { id, finishedAt, attempt } = job;
    return readLogTail(context, { id, orgId, finishedAt, attempt, isLogDeleted });
  };
  const waits = isYetToRun(job) && stateOf(job) !== "asking";
  const [build, owners, agent, explanation, logTail, artifacts, tests] = await Promise.all([
    reading,
    readOwners(context, reading),
    job.agentId === null ? null : nullIfNotFound(getAgent.run(context, byId(job.agentId))),
    waits ? explainJob.run(context, byId(job.id)) : null,
    readTail(),
    hasEnded(job) ? listJobArtifacts.run(context, byId(job.id)) : [],
    readTests(context, job, "job"),
  ]);
  return { job, build, now: context.now, ...owners, agent, explanation, logTail, artifacts, tests };
};

const pathOf = ({ id }: { id: string }): string => `/app/jobs/${id}`;

const Heading = ({ job, build, ...owners }: Details) => (
  <h1>
    <BuildName number={build.number} href={`/app/builds/${build.id}`} {...owners} /> / <bdi>{job.name}</bdi>
  </h1>
);

const Cancel = ({ job }: { job: BuildJob }) => (
  <div class="actions">
    <CancelButton action={`${pathOf(job)}/cancel`} noun="job" disabled={job.status === "canceling"}>
      Cancel <bdi>{job.key}</bdi>? Jobs that need it do not run.
    </CancelButton>
  </div>
);

const Log = ({ job, logTail }: Details) =>
  logTail === undefined ? null : (
    <BuildLog of={pathOf(job)} attempt={job.attempt} isLive={!hasEnded(job)} tail={logTail} />
  );

const Messages = ({ job, now, logTail }: Details) => (
  <>
    {job.message && <p class="message">{job.message}</p>}
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

const jobPage: Page = {
  path: "/jobs/:id",
  role: "viewer",
  async show(context, { params, problem, form }) {
    const details = await readDetails(context, params.id);
    const { job, build, now, explanation } = details;
    const { gate } = job;
    const asks = stateOf(job) === "asking";
    return {
      title: `${job.name} of #${build.number} ${nameOf(details)}${asks ? " waits for approval" : ""}`,
      section: "builds",
      script: "build.js",
      refreshSeconds: hasEnded(job) ? undefined : REFRESH_SECONDS,
      state: stateOf(job),
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <div class="head">
            <Heading {...details} />
            {hasRole(context, "member") && !hasEnded(job) && <Cancel job={job} />}
          </div>
          <JobFacts {...details} />
          <Messages {...details} />
          {asks && gate && (
            <GatePanel
              jobId={job.id}
              name={job.key}
              gate={gate}
              now={now}
              mayAnswer={hasRole(context, gate.by)}
              comment={form?.get("comment") ?? ""}
            />
          )}
          {explanation && <WhyWaiting why={explanation} canAdd={hasRole(context, "maintainer")} />}
          <BuildSteps steps={job.steps} now={now} />
          <Log {...details} />
          <TestsSection reports={details.tests} repoId={build.repoId} branch={details.repository?.defaultBranch} />
          <Artifacts artifacts={details.artifacts} jobs={null} now={now} />
          <JobOutputs outputs={job.outputs} />
          {job.summary && <BuildSummary text={job.summary} />}
          <EnvironmentKeys keys={job.environment} />
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

/** The form of an answer at a gate. A person then sees the build go on, or end. */
const answerForm = (word: "approve" | "reject", verb: typeof approve, notice: string): Form => ({
  path: `/jobs/:id/${word}`,
  access: verb.access,
  page: jobPage,
  async submit(context, { params, form }) {
    const body = parseBody(verb.body, { comment: readText(form, "comment") });
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
