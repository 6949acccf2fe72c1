import type { BuildJob } from "../../protocol/job-record.ts";
import { cancelJob, getJob } from "../../services/builds/build-jobs.ts";
import { findWithSurroundings } from "../../services/builds/build-surroundings.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { approve, reject } from "../../services/jobs/gates.ts";
import { buildPage } from "../build/build.tsx";
import { LogNotes } from "../build/build-log.tsx";
import { repositoryName } from "../parts/build-name.tsx";
import { CancelButton } from "../parts/cancel-button.tsx";
import { readText } from "../parts/fields.tsx";
import { ProblemNotice } from "../parts/form-page.tsx";
import { WhyWaiting } from "../parts/why-waiting.tsx";
import { formAt, hasRole, type Page, type Pages } from "../shell/page-definition.ts";
import { byId, parseBody } from "../shell/verb-input.ts";
import { hasEnded, jobStateOf } from "./arrange.ts";
import { JobBody, openBody } from "./body.tsx";
import { type JobDetails, readJob } from "./details.ts";
import { GateDecisionLine, GatePanel } from "./gate-panel.tsx";
import { JobFactList } from "./job-facts.tsx";

const REFRESH_SECONDS = 2;

const jobPath = ({ id }: { id: string }): string => `/app/jobs/${id}`;

const Head = ({ job, mayCancel }: { job: BuildJob; mayCancel: boolean }) => (
  <div class="head">
    <h1>
      <bdi>{job.name}</bdi>
    </h1>
    {mayCancel && !hasEnded(job) && (
      <div class="actions">
        <CancelButton action={`${jobPath(job)}/cancel`} noun="job" disabled={job.status === "canceling"}>
          Cancel <bdi>{job.key}</bdi>? Jobs that need it do not run.
        </CancelButton>
      </div>
    )}
  </div>
);

const Messages = ({ run: job, now, logTail, failure, lost }: JobDetails) => (
  <>
    {job.message && !failure && <p class="message">{job.message}</p>}
    <GateDecisionLine gate={job.gate} now={now} />
    <LogNotes path={jobPath(job)} logTail={logTail} lost={lost} hasFailed={(job.retries ?? 0) > 0} leak={job.leak} />
  </>
);

const jobPage: Page = {
  path: "/jobs/:id",
  role: "viewer",
  async show(context, { params, query, problem, form }) {
    const job = await getJob.run(context, byId(params.id));
    const details = await readJob(context, job, findWithSurroundings(context, job.buildId));
    const { build, now, explanation } = details;
    const { gate } = job;
    const asks = jobStateOf(job) === "asking";
    const opened = await openBody(context, details, jobPath(job), query);
    return {
      title: `${job.name} in #${build.number} ${repositoryName(details)}${asks ? ": waiting for approval" : ""}`,
      section: "builds",
      crumb: job.name,
      trail: [
        { name: "Builds", href: "/app/builds" },
        { name: `#${build.number} ${repositoryName(details)}`, href: `/app/builds/${build.id}` },
      ],
      script: "build.js",
      refreshSeconds: hasEnded(job) ? undefined : REFRESH_SECONDS,
      state: jobStateOf(job),
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <Head job={job} mayCancel={hasRole(context, "member")} />
          <JobFactList details={details} testsPage={opened.testsPage} />
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
          <JobBody details={details} opened={opened} />
        </>
      ),
    };
  },
};

const cancelForm = formAt("/jobs/:id/cancel", jobPage, cancelJob, async (context, { params }) => {
  await cancelJob.run(context, byId(params.id));
  return { to: `/app/jobs/${params.id}`, notice: "job-canceled" };
});

/** Shows the page to which the answer belongs: a job's page, or the page of a build of someone else's code. */
const askedPage: Page = {
  ...jobPage,
  show: async (context, request) =>
    (await nullIfNotFound(buildPage.show(context, request))) ?? jobPage.show(context, request),
};

/** Creates the form that answers a gate. After the answer, the person sees the build continue or end. */
const answerForm = (word: "approve" | "reject", verb: typeof approve, notice: string) =>
  formAt(`/jobs/:id/${word}`, askedPage, verb, async (context, { params, form }) => {
    const body = parseBody(verb.body, { comment: readText(form, "comment"), commitSha: form.get("commitSha") });
    const { id } = await verb.run(context, { ...byId(params.id), body });
    return { to: `/app/builds/${id}`, notice };
  });

export const jobPages: Pages = [
  jobPage,
  cancelForm,
  answerForm("approve", approve, "approved"),
  answerForm("reject", reject, "rejected"),
];
