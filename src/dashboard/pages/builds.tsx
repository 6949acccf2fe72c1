import { type Build, BuildFilter } from "../../protocol/build.ts";
import { type EndedStatus, isEnded, STATUSES } from "../../protocol/build-states.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { listAgents } from "../../services/agents.ts";
import { listBuilds } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { explainBuild } from "../../services/explain.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { listRepositories } from "../../services/repositories.ts";
import { byId, namesOf, nothing } from "../ask.ts";
import { may } from "../may.ts";
import { outcomeOf } from "../outcome.ts";
import type { Page } from "../page.ts";
import { FirstSteps } from "../parts/first-steps.tsx";
import { isWaiting, StateIcon, wordOf } from "../parts/state.tsx";
import { Ago, Took } from "../parts/time.tsx";

/** Waiting builds that tell on this page why they wait; each one's own page tells it too. */
const EXPLAINED = 5;
const AGAIN = { live: 2, calm: 15 };

interface Names {
  repository: Map<string, string>;
  pipeline: Map<string, string>;
  agent: Map<string, string>;
  waits: Map<string, Explanation>;
}

/** A filter's fields that were filled in. @throws never: a value that can match nothing is left to say so */
const filterOf = (query: URLSearchParams) => {
  const given = ["repoId", "pipelineId", "branch", "status", "cursor"].flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value]] : [];
  });
  const parsed = BuildFilter.safeParse(Object.fromEntries(given));
  return parsed.success ? parsed.data : {};
};

/** What a row says of a build's end beside its icon. */
const RESULTS: Record<EndedStatus, (build: Build) => unknown> = {
  succeeded: () => null,
  failed: (build) => <span class="outcome">{outcomeOf(build) ?? "failed"}</span>,
  canceled: () => "canceled",
};

const Progress = ({ build, names, now }: { build: Build; names: Names; now: Date }) => {
  const { status, queuedAt, startedAt, finishedAt, agentId } = build;
  const agent = agentId === null ? null : (names.agent.get(agentId) ?? null);
  if (isWaiting(status)) {
    return (
      <>
        {wordOf(status)} <Took from={queuedAt} to={null} now={now} />
        <span class="why" title={names.waits.get(build.id)?.words}>
          {names.waits.get(build.id)?.words}
        </span>
      </>
    );
  }
  if (!isEnded(status)) {
    return (
      <>
        {wordOf(status)} <Took from={startedAt ?? queuedAt} to={null} now={now} />
        <span class="why">{agent}</span>
      </>
    );
  }
  return (
    <>
      {RESULTS[status](build)} {startedAt && <Took from={startedAt} to={finishedAt} now={now} />}
      <span class="why">
        <Ago at={finishedAt ?? queuedAt} now={now} />
      </span>
    </>
  );
};

const Row = ({ build, names, now }: { build: Build; names: Names; now: Date }) => {
  const pipeline = build.pipelineId && names.pipeline.get(build.pipelineId);
  return (
    <li id={`b-${build.id}`} class="row build-row" data-row>
      <StateIcon state={build.status} />
      <a href={`/app/builds/${build.id}`} class="what">
        <span class="sr">{wordOf(build.status)} </span>
        <span class="number">#{build.number}</span>{" "}
        <bdi>{names.repository.get(build.repoId) ?? "removed repository"}</bdi>
        {pipeline && (
          <span class="pipeline">
            {" "}
            / <bdi>{pipeline}</bdi>
          </span>
        )}
      </a>
      <span class="ref">
        <span class="branch">{build.branch}</span>
        {build.commitSha && <code class="sha">{build.commitSha.slice(0, 7)}</code>}
      </span>
      <span class="progress">
        <Progress build={build} names={names} now={now} />
      </span>
    </li>
  );
};

const explain = async (context: Context, builds: Build[]): Promise<Map<string, Explanation>> => {
  const waiting = builds.filter(({ status }) => isWaiting(status)).slice(-EXPLAINED);
  const explained = await Promise.all(waiting.map(({ id }) => explainBuild.run(context, byId(id))));
  return new Map(explained.map((explanation) => [explanation.buildId, explanation]));
};

const Filter = ({ query, repositories }: { query: URLSearchParams; repositories: Map<string, string> }) => (
  <form method="get" action="/app/builds" class="filter">
    <label>
      <span class="sr">Repository</span>
      <select name="repoId">
        <option value="">All repositories</option>
        {[...repositories].map(([id, name]) => (
          <option value={id} selected={query.get("repoId") === id}>
            {name}
          </option>
        ))}
      </select>
    </label>
    <label>
      <span class="sr">State</span>
      <select name="status">
        <option value="">Any state</option>
        {STATUSES.map((status) => (
          <option value={status} selected={query.get("status") === status}>
            {wordOf(status)}
          </option>
        ))}
      </select>
    </label>
    <label>
      <span class="sr">Branch</span>
      <input name="branch" placeholder="Branch" value={query.get("branch") ?? ""} data-key="/" />
    </label>
    <button type="submit">Filter</button>
  </form>
);

export const buildsPage: Page = {
  path: "/builds",
  role: "viewer",
  async show(context, { query }) {
    const [{ value: builds, nextCursor }, repositories, pipelines, agents] = await Promise.all([
      listBuilds.answer(context, { ...nothing, query: filterOf(query) }),
      listRepositories.run(context, nothing),
      listPipelines.run(context, nothing),
      listAgents.run(context, nothing),
    ]);
    const names: Names = {
      repository: namesOf(repositories, ({ fullName }) => fullName),
      pipeline: namesOf(pipelines, ({ name }) => name),
      agent: namesOf(agents, ({ name }) => name),
      waits: await explain(context, builds),
    };
    const isFiltered = Object.keys(filterOf(query)).some((name) => name !== "limit");
    const older = new URLSearchParams(query);
    if (nextCursor) older.set("cursor", nextCursor);
    return {
      title: "Builds",
      section: "builds",
      again: builds.every(({ status }) => isEnded(status)) ? AGAIN.calm : AGAIN.live,
      body: (
        <>
          <div class="head">
            <h1>Builds</h1>
            <Filter query={query} repositories={names.repository} />
            {may(context, "member") && repositories.length > 0 && (
              <a class="button primary" href="/app/builds/new">
                Run build
              </a>
            )}
          </div>
          <ol class="rows" id="builds" data-announce="build">
            {builds.map((build) => (
              <Row build={build} names={names} now={context.now} />
            ))}
          </ol>
          {builds.length === 0 &&
            (isFiltered ? (
              <p class="empty">
                No build matches. <a href="/app/builds">Show all</a>
              </p>
            ) : (
              <FirstSteps context={context} repositories={repositories.length} agents={agents.length} />
            ))}
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
