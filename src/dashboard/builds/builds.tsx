import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { listAgents } from "../../services/agents/agents.ts";
import { whyEach } from "../../services/builds/build-jobs.ts";
import { listBuilds } from "../../services/builds/build-list.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { FirstHour } from "../overview/first-hour.tsx";
import { count } from "../parts/format.ts";
import { FilterNotice, NoMatch } from "../parts/list-filter.tsx";
import { isWaiting } from "../parts/state.tsx";
import { hasRole, type Page } from "../shell/page-definition.ts";
import { namesById, noInput } from "../shell/verb-input.ts";
import { BuildFilterForm, readBuildFilter } from "./build-filter.tsx";
import { BuildListRow, type BuildRowDetails, Dots } from "./build-row.tsx";

/** Builds that were created on one day (UTC), the newest first. */
interface DayOfBuilds {
  /** The day, such as `2026-11-26`. */
  day: string;
  builds: Build[];
}

/** Groups a list of builds (the newest first) by the day of their creation. */
const byDay = (builds: readonly Build[]): DayOfBuilds[] =>
  [...Map.groupBy(builds, ({ queuedAt }) => queuedAt.slice(0, 10))].map(([day, ofDay]) => ({ day, builds: ofDay }));

/** Builds of one branch, tag or pull request in a repository, the newest first. */
interface BranchOfBuilds {
  key: string;
  newest: Build;
  builds: Build[];
}

const branchKey = ({ repoId, pull, ref }: Build): string => `${repoId}/${pull ? `#${pull.number}` : ref}`;

/** Groups a list of builds (the newest first) by branch. The branch with the newest build comes first. */
const byBranch = (builds: readonly Build[]): BranchOfBuilds[] =>
  [...Map.groupBy(builds, branchKey)].map(([key, ofBranch]) => ({ key, newest: ofBranch[0]!, builds: ofBranch }));

/** Seconds between refreshes while builds run or wait, and for older builds, which rarely change. */
const REFRESH_SECONDS = { active: 5, idle: 15 };
/** The number of builds that a page groups by branch. Each row shows a branch's newest build. */
const GROUPED = 100;

/** Returns the address of the same list with these changes to its filters. */
const addressWith = (query: URLSearchParams, changes: Record<string, string | null>): string => {
  const next = new URLSearchParams(query);
  next.delete("done");
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return `/app/builds${next.size > 0 ? `?${next}` : ""}`;
};

const Views = ({ query, isFlat }: { query: URLSearchParams; isFlat: boolean }) => (
  <nav class="views" aria-label="Views">
    <a href={addressWith(query, { view: null, cursor: null })} aria-current={isFlat ? undefined : "page"}>
      By branch
    </a>
    <a href={addressWith(query, { view: "all", cursor: null })} aria-current={isFlat ? "page" : undefined}>
      All builds
    </a>
  </nav>
);

interface RowsProps {
  builds: Build[];
  details: BuildRowDetails;
}

const Branches = ({ builds, details }: RowsProps) => (
  <ol class="rows by-branch" id="builds" data-announce="build">
    {byBranch(builds).map(({ key, newest, builds: ofBranch }) => (
      <li id={`g-${key}`} class="row" data-row>
        <BuildListRow build={newest} details={details}>
          <Dots builds={ofBranch} />
        </BuildListRow>
      </li>
    ))}
  </ol>
);

/**
 * The format of days. A page creates it when it first shows days, because it loads a language's data, which takes
 * longer than any other module.
 */
let days: Intl.DateTimeFormat | null = null;

const formatDay = (day: string): string => {
  const format = { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" } as const;
  days ??= new Intl.DateTimeFormat("en-GB", format);
  return days.format(new Date(day));
};

const Days = ({ builds, details }: RowsProps) => (
  <ol class="rows" id="builds" data-announce="build">
    {byDay(builds).map(({ day, builds: ofDay }) => (
      <>
        <li id={`d-${day}`} class="day">
          <h2>
            <time datetime={day}>{formatDay(day)}</time> <span class="hint">UTC</span>
          </h2>
        </li>
        {ofDay.map((build) => (
          <li id={`r-${build.id}`} class="row" data-row>
            <BuildListRow build={build} details={details} />
          </li>
        ))}
      </>
    ))}
  </ol>
);

/** Shows the page's number of builds, and links to newer and older ones. */
const Places = ({ query, rows, nextCursor }: { query: URLSearchParams; rows: number; nextCursor: string | null }) => (
  <p class="more">
    <span class="hint">
      {count(rows, "build")}
      {nextCursor && " on this page"}
    </span>{" "}
    {query.has("cursor") && <a href={addressWith(query, { cursor: null })}>Newest builds</a>}{" "}
    {nextCursor && <a href={addressWith(query, { cursor: nextCursor })}>Older builds</a>}
  </p>
);

const refreshSeconds = (builds: Build[], isFirstPage: boolean): number => {
  const isActive = isFirstPage && builds.some(({ status }) => !isEnded(status));
  return isActive ? REFRESH_SECONDS.active : REFRESH_SECONDS.idle;
};

export const buildsPage: Page = {
  path: "/builds",
  role: "viewer",
  async show(context, { query }) {
    const { filter, errors, isFiltered } = await readBuildFilter(context, query);
    const isFlat = query.get("view") === "all";
    const limit = isFlat ? undefined : GROUPED;
    const [{ value: builds, nextCursor }, repositories, pipelines, agents] = await Promise.all([
      listBuilds.answer(context, { ...noInput, query: { ...filter, ...(limit && { limit }) } }),
      listRepositories.run(context, noInput),
      listPipelines.run(context, noInput),
      listAgents.run(context, noInput),
    ]);
    const details: BuildRowDetails = {
      now: context.now,
      repositories: namesById(repositories, ({ fullName }) => fullName),
      pipelines: namesById(pipelines, ({ name }) => name),
      agents: namesById(agents, ({ name }) => name),
      whys: await whyEach(
        context,
        builds.filter(({ status }) => isWaiting(status)).map(({ id }) => id),
      ),
    };
    return {
      title: "Builds",
      section: "builds",
      refreshSeconds: refreshSeconds(builds, !query.has("cursor")),
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
            <BuildFilterForm query={query} repositories={details.repositories} isFiltered={isFiltered} />
          </div>
          {filter.since && (
            <p class="hint">
              Since {query.get("since")} UTC.{" "}
              <a href={addressWith(query, { since: null, cursor: null })}>Show all days</a>
            </p>
          )}
          {builds.length > 0 && <Views query={query} isFlat={isFlat} />}
          {isFlat ? <Days builds={builds} details={details} /> : <Branches builds={builds} details={details} />}
          {builds.length === 0 && isFiltered && <NoMatch noun="build" href="/app/builds" />}
          {builds.length === 0 && !isFiltered && (
            <FirstHour context={context} repositories={repositories} agents={agents} hasBuilds={false} />
          )}
          {builds.length > 0 && <Places query={query} rows={builds.length} nextCursor={nextCursor} />}
        </>
      ),
    };
  },
};
