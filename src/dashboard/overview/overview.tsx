import type { Build } from "../../protocol/build.ts";
import { HistoryFilter, type PipelineHistory } from "../../protocol/pipeline-history.ts";
import { listAgents } from "../../services/agents/agents.ts";
import { readForYou } from "../../services/builds/for-you.ts";
import type { Context } from "../../services/core/context.ts";
import { listPipelineHistories } from "../../services/repositories/pipeline-histories.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { count } from "../parts/count.ts";
import { FilterNotice } from "../parts/filter-notice.tsx";
import { filledFields, readFilter } from "../parts/list-filter.ts";
import type { Page } from "../shell/page-definition.ts";
import { namesById, noInput } from "../shell/verb-input.ts";
import { FIRST_HOUR_SECONDS, FirstHour } from "./first-hour.tsx";
import { ForYouList, type NamesById } from "./for-you.tsx";
import { greenPercent, PipelineTable } from "./pipeline-table.tsx";

/** Pipelines of a page, and red ones of any page: with what else a page shows, at most 300 rows of D1. */
const PIPELINES = 40;
const RED = 5;
const REFRESH_SECONDS = 15;

const namesOf = (histories: PipelineHistory[]): NamesById =>
  new Map(
    histories.flatMap(({ repoId, repository, pipelineId, name }) => [
      [repoId, repository],
      [pipelineId, name],
    ]),
  );

/** Names of what only builds under way are of: asks a second time, and only where one is. */
const withNamesOf = async (context: Context, names: NamesById, builds: Build[]): Promise<NamesById> => {
  const isKnown = builds.every(({ repoId, pipelineId }) => names.has(repoId) && (!pipelineId || names.has(pipelineId)));
  if (isKnown) return names;
  const [repositories, pipelines] = await Promise.all([
    listRepositories.run(context, noInput),
    listPipelines.run(context, noInput),
  ]);
  return new Map([...namesById(repositories, ({ fullName }) => fullName), ...namesById(pipelines, ({ name }) => name)]);
};

/** What the page is about, in one sentence. */
const headlineOf = (red: PipelineHistory[]): string => {
  if (red.length === 0) return "All is green";
  const branches = new Set(
    red.map(({ builds, failingSince }) => builds.find(({ id }) => id === failingSince?.buildId)?.branch),
  );
  const [branch] = branches;
  const places = red.length === 1 ? "one place" : `${red.length === RED ? "at least " : ""}${red.length} places`;
  return branches.size === 1 ? `${branch} is red in ${places}` : `Red in ${places}`;
};

const Summary = ({ histories, isAll }: { histories: PipelineHistory[]; isAll: boolean }) => {
  const sum = (field: "succeeded" | "failed" | "canceled") => histories.reduce((all, { week }) => all + week[field], 0);
  const [succeeded, failed] = [sum("succeeded"), sum("failed")];
  const green = greenPercent({ succeeded, failed });
  return (
    <p class="lede">
      {isAll ? count(histories.length, "pipeline") : `The ${histories.length} latest pipelines`},{" "}
      {count(succeeded + failed + sum("canceled"), "build")} this week{green !== null && `, ${green} % green`}
    </p>
  );
};

/** An organization of whose default branches nothing was built yet. */
const Beginning = async ({ context }: { context: Context }) => {
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
    // The release before counted a tag that failed as red.
    const red = counted.filter(({ failingSince }) => failingSince !== null);
    const names = await withNamesOf(context, namesOf([...histories, ...red]), [...forYou.live, ...forYou.failed]);
    const isAll = !nextCursor && !filter.cursor;
    const isEmpty = histories.length === 0 && isAll;
    return {
      title: "Overview",
      section: "overview",
      refreshSeconds: isEmpty ? FIRST_HOUR_SECONDS : REFRESH_SECONDS,
      body: (
        <>
          <FilterNotice errors={errors} />
          <h1>{isEmpty ? "Nothing was built yet" : headlineOf(red)}</h1>
          {histories.length > 0 && <Summary histories={histories} isAll={isAll} />}
          <ForYouList context={context} forYou={forYou} red={red} names={names} />
          {isEmpty ? (
            <Beginning context={context} />
          ) : (
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
