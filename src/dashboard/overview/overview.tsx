import type { Build } from "../../protocol/build.ts";
import { HistoryFilter, type PipelineHistory, type WeekOfBuilds } from "../../protocol/pipeline-history.ts";
import { listAgents } from "../../services/agents/agents.ts";
import { readForYou } from "../../services/builds/build-list.ts";
import type { Context } from "../../services/core/context.ts";
import { listPipelineHistories } from "../../services/repositories/pipeline-histories.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { type Bar, Bars, toBar } from "../parts/bars.tsx";
import { count, formatDuration } from "../parts/format.ts";
import { FilterNotice, filledFields, readFilter } from "../parts/list-filter.tsx";
import { ShortName } from "../parts/short-name.tsx";
import { StateIcon, wordOf } from "../parts/state.tsx";
import type { Child } from "../shell/markup.ts";
import type { Page } from "../shell/page-definition.ts";
import { namesById, noInput } from "../shell/verb-input.ts";
import { FIRST_HOUR_SECONDS, FirstHour } from "./first-hour.tsx";
import { ForYouList, type NamesById } from "./for-you.tsx";

const NONE = "–";
/** A pipeline that is slower than in the previous week by at least this percentage has a colour. */
const SLOWER_PERCENT = 10;

const seconds = (value: number | undefined): string => (value === undefined ? NONE : formatDuration(value * 1000));

/** Returns the percentage of successes among succeeded and failed builds; null if there are no such builds. */
const greenPercent = ({ succeeded, failed }: Pick<WeekOfBuilds, "succeeded" | "failed">): number | null =>
  succeeded + failed === 0 ? null : Math.floor((100 * succeeded) / (succeeded + failed));

const computeTrend = ({ week, weekBefore }: PipelineHistory): number | null =>
  week.tookSeconds && weekBefore.tookSeconds
    ? Math.round((week.tookSeconds.p50 / weekBefore.tookSeconds.p50 - 1) * 100)
    : null;

const signed = (percent: number): string => `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent)} %`;

/** Returns an active build as the last bar of its pipeline. */
const toLiveBar = ({ id, number, status, subject, startedAt, waitsFor }: Build, now: Date): Bar => ({
  id,
  number,
  subject,
  isFlaky: false,
  state: waitsFor.length > 0 ? "asking" : status,
  tookMs: startedAt === null ? 0 : now.getTime() - Date.parse(startedAt),
});

/** Returns the default branch; undefined if only tags were built. */
const findDefaultBranch = ({ builds }: PipelineHistory): string | undefined =>
  builds.find(({ tag }) => tag === null)?.branch;

/**
 * Returns the build that a row shows: a build that shows whether the default branch is red or green, otherwise a build
 * of a tag. Retries of older commits do not change that colour.
 */
const findLast = (history: PipelineHistory) => {
  const { builds, failingSince } = history;
  const verdict = failingSince ? "failed" : "succeeded";
  const ofBranch = builds.filter(({ branch }) => branch === findDefaultBranch(history));
  return (
    ofBranch.find(({ status }) => status === verdict) ??
    ofBranch[0] ??
    builds.find(({ status }) => status !== "canceled") ??
    builds[0]
  );
};

interface RowProps {
  history: PipelineHistory;
  /** The pipeline's active builds of the default branch and of tags, the newest first. */
  live: Build[];
  now: Date;
}

const Row = ({ history, live: [newest, ...older], now }: RowProps) => {
  const { pipelineId, name, repository, builds, week } = history;
  const last = findLast(history);
  // An active build of a tag does not hide the branch's state.
  const live = [newest, ...older].find((build) => build?.tag === null || last?.tag !== null);
  const bars = [...builds.map(toBar).reverse(), ...(newest ? [toLiveBar(newest, now)] : [])];
  const state = live ? toLiveBar(live, now).state : (last?.status ?? "queued");
  const green = greenPercent(week);
  const trend = computeTrend(history);
  const [, ofOwner = repository] = repository.split("/");
  return (
    <tr id={`p-${pipelineId}`} data-row>
      <td class="of-state">
        <StateIcon state={state} />
        <span class="sr">{wordOf(state)}</span>
      </td>
      <th scope="row">
        <a href={`/app/pipelines/${pipelineId}`} class="what" title={`${repository} / ${name}`}>
          <span class="repository">
            <ShortName name={ofOwner} />
          </span>
          <span class="hint">/</span> <bdi class="pipeline-name">{name}</bdi>
        </a>
      </th>
      <td class="of-branch">
        <bdi>{live ? (live.tag ?? live.branch) : (last?.tag ?? last?.branch)}</bdi>
      </td>
      <td class="of-bars">
        <Bars bars={bars} label={`Last builds of ${repository} / ${name}`} />
      </td>
      <td class={`number-cell${history.isRed ? " tone-bad" : ""}`}>{green === null ? NONE : `${green} %`}</td>
      <td class="number-cell">{seconds(week.tookSeconds?.p50)}</td>
      <td class="number-cell hint">{seconds(week.waitedSeconds?.p90)}</td>
      <td class={`number-cell ${trend !== null && trend >= SLOWER_PERCENT ? "tone-flaky" : "hint"}`}>
        {trend === null ? NONE : signed(trend)}
      </td>
    </tr>
  );
};

/**
 * Reports whether the pipeline's history will contain the build, because it is a build of the default branch or of a
 * tag.
 */
const belongsTo = (history: PipelineHistory, build: Build): boolean =>
  build.pipelineId === history.pipelineId &&
  build.pull === null &&
  (build.tag !== null || build.branch === findDefaultBranch(history));

/** Shows pipelines with the state of their default branch, their last builds and their week. */
const PipelineTable = ({ histories, live, now }: { histories: PipelineHistory[]; live: Build[]; now: Date }) => (
  <table class="overview-table rows">
    <thead>
      <tr>
        <th scope="col">
          <span class="sr">State</span>
        </th>
        <th scope="col">Pipeline</th>
        <th scope="col">Branch</th>
        <th scope="col" title="Newest on the right">
          Last 30 builds
        </th>
        <th scope="col" class="number-cell" title="Share of this week's builds that succeeded">
          Pass rate
        </th>
        <th scope="col" class="number-cell" title="Half of this week's builds took this long or less">
          Median
        </th>
        <th
          scope="col"
          class="number-cell"
          title="Nine in ten of this week's builds waited this long or less for an agent"
        >
          Queue p90
        </th>
        <th scope="col" class="number-cell" title="Median duration, compared with the previous week">
          Trend
        </th>
      </tr>
    </thead>
    <tbody>
      {histories.map((history) => (
        <Row history={history} live={live.filter((build) => belongsTo(history, build))} now={now} />
      ))}
    </tbody>
  </table>
);

/**
 * The number of pipelines on a page, and of red pipelines of any page. With its other data, the page reads at most 300
 * rows from D1.
 */
const PIPELINES = 40;
const RED = 5;
const REFRESH_SECONDS = 15;

const listNames = (histories: PipelineHistory[]): NamesById =>
  new Map(
    histories.flatMap(({ repoId, repository, pipelineId, name }) => [
      [repoId, repository],
      [pipelineId, name],
    ]),
  );

/** Adds the names of repositories and pipelines that have only active builds. */
const readMissingNames = async (context: Context, names: NamesById, builds: Build[]): Promise<NamesById> => {
  const isKnown = builds.every(({ repoId, pipelineId }) => names.has(repoId) && (!pipelineId || names.has(pipelineId)));
  if (isKnown) return names;
  const [repositories, pipelines] = await Promise.all([
    listRepositories.run(context, noInput),
    listPipelines.run(context, noInput),
  ]);
  return new Map([...namesById(repositories, ({ fullName }) => fullName), ...namesById(pipelines, ({ name }) => name)]);
};

/** Summarizes the page in one sentence. */
const headline = (red: PipelineHistory[]): string => {
  if (red.length === 0) return "Everything is passing";
  const branches = new Set(
    red.map(({ builds, failingSince }) => builds.find(({ id }) => id === failingSince?.buildId)?.branch),
  );
  const [branch] = branches;
  const failing = `${red.length === RED ? "At least " : ""}${count(red.length, "pipeline")}`;
  const where = branches.size === 1 ? ` on ${branch}` : "";
  return `${failing} ${red.length === 1 ? "is" : "are"} failing${where}`;
};

const Summary = ({ histories, isAll }: { histories: PipelineHistory[]; isAll: boolean }) => {
  const sum = (field: "succeeded" | "failed" | "canceled") => histories.reduce((all, { week }) => all + week[field], 0);
  const [succeeded, failed] = [sum("succeeded"), sum("failed")];
  const green = greenPercent({ succeeded, failed });
  return (
    <p class="lede">
      {isAll ? count(histories.length, "pipeline") : `${histories.length} most recently active pipelines`},{" "}
      {count(succeeded + failed + sum("canceled"), "build")} this week{green !== null && `, ${green} % passed`}
    </p>
  );
};

/** Shows the page of an organization with no builds of default branches yet. */
const readBeginning = async (context: Context): Promise<Child> => {
  const [repositories, agents] = await Promise.all([
    listRepositories.run(context, noInput),
    listAgents.run(context, noInput),
  ]);
  return <FirstHour context={context} repositories={repositories} agents={agents} hasBuilds={false} />;
};

export const overviewPage: Page = {
  path: "/",
  role: "viewer",
  async show(context, { query }) {
    const { filter, errors } = readFilter(HistoryFilter, filledFields(query, ["cursor"]));
    const [{ value: histories, nextCursor }, counted, forYou] = await Promise.all([
      listPipelineHistories.answer(context, { ...noInput, query: { ...filter, limit: PIPELINES } }),
      listPipelineHistories.run(context, { ...noInput, query: { isRed: true, limit: RED } }),
      readForYou(context),
    ]);
    // The previous release counted a failed tag as red.
    const red = counted.filter(({ failingSince }) => failingSince !== null);
    const names = await readMissingNames(context, listNames([...histories, ...red]), [
      ...forYou.live,
      ...forYou.failed,
    ]);
    const isAll = !nextCursor && !filter.cursor;
    const isEmpty = histories.length === 0 && isAll;
    const beginning = isEmpty && (await readBeginning(context));
    return {
      title: "Overview",
      section: "overview",
      refreshSeconds: isEmpty ? FIRST_HOUR_SECONDS : REFRESH_SECONDS,
      body: (
        <>
          <FilterNotice errors={errors} />
          <h1>{isEmpty ? "No builds yet" : headline(red)}</h1>
          {histories.length > 0 && <Summary histories={histories} isAll={isAll} />}
          <ForYouList context={context} forYou={forYou} red={red} names={names} />
          {beginning || (
            <section aria-labelledby="pipelines">
              <h2 id="pipelines">Pipelines</h2>
              <PipelineTable histories={histories} live={forYou.live} now={context.now} />
            </section>
          )}
          {(nextCursor || filter.cursor) && (
            <p class="more">
              {filter.cursor && <a href="/app">Latest pipelines</a>}{" "}
              {nextCursor && <a href={`/app?cursor=${nextCursor}`}>More pipelines</a>}
            </p>
          )}
        </>
      ),
    };
  },
};
