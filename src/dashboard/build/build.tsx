import { isEnded } from "../../protocol/build-states.ts";
import { cancelBuild } from "../../services/builds/build-jobs.ts";
import { deleteBuild, deleteLog, getBuild } from "../../services/builds/builds.ts";
import { retryBuild } from "../../services/builds/retry.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { getRepository } from "../../services/repositories/repositories.ts";
import { JobBody, openBody } from "../job/body.tsx";
import { type BuildDetails, readBuild } from "../job/details.ts";
import { GateDecisionLine, Gates } from "../job/gate-panel.tsx";
import { JobsBody } from "../job/jobs-of-build.tsx";
import { repositoryName } from "../parts/build-name.tsx";
import { ProblemNotice } from "../parts/form-page.tsx";
import { WhyWaiting } from "../parts/why-waiting.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formAt, hasRole, type Page, type Pages } from "../shell/page-definition.ts";
import { byId, parseBody } from "../shell/verb-input.ts";
import { BuildHead } from "./build-head.tsx";
import { LogNotes } from "./build-log.tsx";

const REFRESH_SECONDS = 2;

const Messages = ({ build, body, successor, canceler, refused }: BuildDetails) => (
  <>
    {build.message && !successor && !body.failure && <p class="message">{build.message}</p>}
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
        The git host rejected the status <bdi>{name}</bdi>: {reason}
      </p>
    ))}
    <LogNotes path={`/app/builds/${build.id}`} logTail={body.logTail} lost={body.lost} leak={build.leak} />
  </>
);

const pageTitle = ({ build, ...owners }: BuildDetails): string =>
  `#${build.number} ${repositoryName(owners)}${build.waitsFor.length > 0 ? ": waiting for approval" : ""}`;

export const buildPage: Page = {
  path: "/builds/:id",
  role: "viewer",
  async show(context, { params, query, problem }) {
    const details = await readBuild(context, params.id);
    const { build, body } = details;
    const opened = await openBody(context, body, `/app/builds/${build.id}`, query);
    return {
      title: pageTitle(details),
      section: "builds",
      script: "build.js",
      refreshSeconds: isEnded(build.status) ? undefined : REFRESH_SECONDS,
      state: build.status,
      branch: { repoId: build.repoId, name: build.branch },
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <BuildHead details={details} context={context} testsPage={opened.testsPage} />
          <Messages {...details} />
          <Gates build={build} context={context} />
          <GateDecisionLine gate={build.approval} now={context.now} />
          {"explanation" in body && body.explanation && (
            <WhyWaiting why={body.explanation} canAdd={hasRole(context, "maintainer")} />
          )}
          {"unable" in body ? <JobsBody details={body} opened={opened} /> : <JobBody details={body} opened={opened} />}
        </>
      ),
    };
  },
};

const cancelForm = formAt("/builds/:id/cancel", buildPage, cancelBuild, async (context, { params }) => {
  await cancelBuild.run(context, byId(params.id));
  return { to: `/app/builds/${params.id}`, notice: "canceled" };
});

const retryForm = formAt("/builds/:id/retry", buildPage, retryBuild, async (context, { params, form }) => {
  const body = parseBody(retryBuild.body, { only: form.get("only") });
  const { id } = await retryBuild.run(context, { ...byId(params.id), body });
  return { to: `/app/builds/${id}`, notice: "triggered" };
});

export const buildPages: Pages = [buildPage, cancelForm, retryForm];

/** Returns the build's number and its repository's name. */
const readBuildName = async (context: Context, id: string): Promise<string> => {
  const { number, repoId } = await getBuild.run(context, byId(id));
  const repository = await nullIfNotFound(getRepository.run(context, byId(repoId)));
  return `#${number} in ${repository?.fullName ?? "a removed repository"}`;
};

interface Deletion {
  path: string;
  verb: typeof deleteBuild | typeof deleteLog;
  /** Describes the deletion of the build with this name. */
  describe(build: string): string;
  consequences: string;
  /** Returns the address of the page to open after the deletion. */
  next(id: string): string;
}

const confirmDeletion = ({ path, verb, describe, consequences, next }: Deletion) =>
  confirmRemoval({
    path,
    section: "builds",
    access: verb.access,
    verb: "delete",
    async question(context, id) {
      return {
        name: describe(await readBuildName(context, id)),
        consequences,
        back: `/app/builds/${id}`,
        next: next(id),
      };
    },
    remove: (context, id) => verb.run(context, byId(id)),
  });

const ofBuild = confirmDeletion({
  path: "/builds/:id/delete",
  verb: deleteBuild,
  describe: (build) => build,
  consequences:
    "This permanently deletes its log, steps and summary. Its number is not reused. The audit keeps who deleted it.",
  next: () => "/app/builds",
});

const ofLog = confirmDeletion({
  path: "/builds/:id/log/delete",
  verb: deleteLog,
  describe: (build) => `the log of ${build}`,
  consequences: "This permanently deletes the logs of all attempts. The build stays, and can be retried.",
  next: (id) => `/app/builds/${id}`,
});

export const deleteBuildPages: Pages = [...ofBuild, ...ofLog];
