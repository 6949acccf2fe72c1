import type { Build } from "../../protocol/build.ts";
import { type EndedStatus, isEnded } from "../../protocol/build-states.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { listAgents } from "../../services/agents.ts";
import { listBuilds } from "../../services/build-list.ts";
import type { Context } from "../../services/core/context.ts";
import { explainBuild } from "../../services/explain.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { listRepositories } from "../../services/repositories.ts";
import { BuildFilterForm, readBuildFilter } from "../build-filter.tsx";
import { outcomeOf, unaskedEnd } from "../build-outcome.ts";
import { RowOrigin } from "../components/build-origin.tsx";
import { FilterNotice } from "../components/filter-notice.tsx";
import { FirstSteps } from "../components/first-steps.tsx";
import { isWaiting, StateIcon, wordOf } from "../components/state.tsx";
import { Elapsed, RelativeTime } from "../components/time.tsx";
import type { Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { byId, namesById, noInput } from "../verb-input.ts";

/** Queued builds that this page explains. Each one's own page explains it too. */
const EXPLAINED = 5;
const REFRESH_SECONDS = { active: 2, idle: 15 };

/** Names by id, and why builds wait by the id of the build. */
interface BuildDetails {
  now: Date;
  repositories: Map<string, string>;
  pipelines: Map<string, string>;
  agents: Map<string, string>;
  explanations: Map<string, Explanation>;
}

/** What a row says about the end of a build, beside its icon. */
const RESULTS: Record<EndedStatus, (build: Build) => unknown> = {
  succeeded: () => null,
  failed: (build) => <span class="outcome">{outcomeOf(build) ?? "failed"}</span>,
  canceled: (build) => unaskedEnd(build) ?? "canceled",
};

const Progress = ({ build, details }: { build: Build; details: BuildDetails }) => {
  const { now, agents, explanations } = details;
  const { status, queuedAt, startedAt, finishedAt, agentId } = build;
  const agent = agentId === null ? null : agents.get(agentId);
  const asks = build.waitsFor.length > 0;
  if (isWaiting(status)) {
    const reason = asks ? wordOf("asking") : explanations.get(build.id)?.message;
    return (
      <>
        {wordOf(status)} <Elapsed from={queuedAt} to={null} now={now} />
        <span class="why" title={reason}>
          {reason}
        </span>
      </>
    );
  }
  if (!isEnded(status)) {
    return (
      <>
        {wordOf(status)} <Elapsed from={startedAt ?? queuedAt} to={null} now={now} />
        <span class="why">{asks ? wordOf("asking") : agent}</span>
      </>
    );
  }
  return (
    <>
      {RESULTS[status](build)} {startedAt && <Elapsed from={startedAt} to={finishedAt} now={now} />}
      <span class="why">
        <RelativeTime at={finishedAt ?? queuedAt} now={now} />
      </span>
    </>
  );
};

const Row = ({ build, details }: { build: Build; details: BuildDetails }) => {
  const pipeline = build.pipelineId && details.pipelines.get(build.pipelineId);
  return (
    <li id={`b-${build.id}`} class="row build-row" data-row>
      <StateIcon state={build.waitsFor.length > 0 ? "asking" : build.status} />
      <a href={`/app/builds/${build.id}`} class="what">
        <span class="sr">{wordOf(build.status)} </span>
        <span class="number">#{build.number}</span>{" "}
        <bdi>{details.repositories.get(build.repoId) ?? "removed repository"}</bdi>
        {pipeline && (
          <span class="pipeline">
            {" "}
            / <bdi>{pipeline}</bdi>
          </span>
        )}
      </a>
      <span class="ref">
        <span class="branch">{build.tag ?? build.branch}</span>
        {build.commitSha && <code class="sha">{build.commitSha.slice(0, 7)}</code>}
      </span>
      <RowOrigin build={build} />
      <span class="progress">
        <Progress build={build} details={details} />
      </span>
    </li>
  );
};

const explain = async (context: Context, builds: Build[]): Promise<Map<string, Explanation>> => {
  const queued = builds.filter(({ status }) => isWaiting(status)).slice(-EXPLAINED);
  const explanations = await Promise.all(queued.map(({ id }) => explainBuild.run(context, byId(id))));
  return new Map(explanations.map((explanation) => [explanation.buildId, explanation]));
};

export const buildsPage: Page = {
  path: "/builds",
  role: "viewer",
  async show(context, { query }) {
    const { filter, errors, isFiltered } = await readBuildFilter(context, query);
    const [{ value: builds, nextCursor }, repositories, pipelines, agents] = await Promise.all([
      listBuilds.answer(context, { ...noInput, query: filter }),
      listRepositories.run(context, noInput),
      listPipelines.run(context, noInput),
      listAgents.run(context, noInput),
    ]);
    const details: BuildDetails = {
      now: context.now,
      repositories: namesById(repositories, ({ fullName }) => fullName),
      pipelines: namesById(pipelines, ({ name }) => name),
      agents: namesById(agents, ({ name }) => name),
      explanations: await explain(context, builds),
    };
    const older = new URLSearchParams(query);
    if (nextCursor) older.set("cursor", nextCursor);
    return {
      title: "Builds",
      section: "builds",
      refreshSeconds: builds.every(({ status }) => isEnded(status)) ? REFRESH_SECONDS.idle : REFRESH_SECONDS.active,
      body: (
        <>
          <FilterNotice errors={errors} />
          <div class="head">
            <h1>Builds</h1>
            {hasRole(context, "member") && repositories.length > 0 && (
              <a class="button primary" href="/app/builds/new">
                Run build
              </a>
            )}
            <BuildFilterForm query={query} repositories={details.repositories} />
          </div>
          <ol class="rows" id="builds" data-announce="build">
            {builds.map((build) => (
              <Row build={build} details={details} />
            ))}
          </ol>
          {builds.length === 0 && isFiltered && (
            <p class="empty">
              No build matches. <a href="/app/builds">Show all</a>
            </p>
          )}
          {builds.length === 0 && !isFiltered && (
            <FirstSteps context={context} repositories={repositories.length} agents={agents.length} />
          )}
          {nextCursor && (
            <p class="more">
              <a href={`/app/builds?${older}`}>Older builds</a>
            </p>
          )}
        </>
      ),
    };
  },
};
