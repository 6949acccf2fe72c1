import type { Build, BuildEvent } from "../protocol/build.ts";
import { type BuildStatus, isActive, isEnded } from "../protocol/build-states.ts";

/** The filters of a list of builds. An omitted field filters nothing. */
export interface BuildQuery {
  repoId?: string;
  pipelineId?: string;
  ref?: string;
  /** Matches builds of any of these refs. */
  refs?: readonly string[];
  /** The full hash or its first characters, in lower case. */
  commitSha?: string;
  status?: BuildStatus;
  event?: BuildEvent;
  trigger?: Build["trigger"];
  agentId?: string;
  /** The author of the commit. */
  author?: string;
  /** The number of the pull request. */
  pull?: number;
  /** The range of creation times in milliseconds since 1970: from `since` up to `until`, exclusive. */
  since?: number;
  until?: number;
  /** Matches builds with a smaller id, which are older. */
  before?: string;
}

/** The fields that a query reads. */
export interface QueriedBuild
  extends Pick<
    Build,
    "id" | "repoId" | "pipelineId" | "ref" | "commitSha" | "status" | "event" | "trigger" | "agentId" | "author"
  > {
  pull: number | null;
  /** When the build was created, in milliseconds since 1970. */
  queuedAt: number;
}

const EQUAL = ["repoId", "pipelineId", "ref", "status", "event", "trigger", "agentId", "author", "pull"] as const;

export const matches = (build: QueriedBuild, query: BuildQuery): boolean =>
  EQUAL.every((field) => query[field] === undefined || build[field] === query[field]) &&
  (query.refs === undefined || query.refs.includes(build.ref)) &&
  (query.commitSha === undefined || (build.commitSha?.startsWith(query.commitSha) ?? false)) &&
  (query.since === undefined || build.queuedAt >= query.since) &&
  (query.until === undefined || build.queuedAt < query.until) &&
  (query.before === undefined || build.id < query.before);

/** The parts of one page, before D1's rows and the pool's builds become one list. All lists are newest first. */
interface PageParts<B extends QueriedBuild> {
  query: BuildQuery;
  limit: number;
  /** D1's rows: `limit + 1` of them if there are that many. */
  rows: readonly B[];
  /**
   * The pool's builds that have not ended, or whose end D1 does not know: `limit + 1` if there are that many. Also
   * contains the pool's copy of each build in `rows` that has not ended. The merge ignores other builds.
   */
  live: readonly B[];
}

interface PageOfBuilds<B> {
  builds: B[];
  /** The next page begins after this id. Null on the last page. */
  next: string | null;
  /** Whether the pool has no build after this page. */
  isPastLive: boolean;
}

/** Reports whether to query D1, which does not know the state of a build that has not ended. */
export const asksStore = ({ status }: BuildQuery): boolean => status === undefined || isEnded(status);

/** Reports whether to query the pool. `isPastLive` says that the pool had no later build on an earlier page. */
export const asksPool = ({ status }: BuildQuery, isPastLive: boolean, rows: readonly QueriedBuild[]): boolean =>
  status === undefined ? !isPastLive || rows.some((row) => isActive(row.status)) : isActive(status);

const byNewest = (one: QueriedBuild, other: QueriedBuild): number => (one.id < other.id ? 1 : -1);

/**
 * Reports whether the pool's copy of a build counts. The copy always counts, unless D1 knows that the build has ended
 * and a restored pool does not know this.
 */
const isCurrent = (live: QueriedBuild, row: QueriedBuild | undefined): boolean =>
  !row || !isEnded(row.status) || isEnded(live.status);

/** Merges the pool's builds into D1's rows. A build appears only once, and never in an older state than the pool's. */
export const mergePage = <B extends QueriedBuild>({ query, limit, rows, live }: PageParts<B>): PageOfBuilds<B> => {
  const builds = new Map(rows.map((row) => [row.id, row]));
  for (const build of live) if (isCurrent(build, builds.get(build.id))) builds.set(build.id, build);
  const matching = [...builds.values()].filter((build) => matches(build, query)).sort(byNewest);
  // D1 was not read beyond its last row, so an older build of the pool belongs to a later page.
  const readTo = rows.length > limit ? rows.at(-1)!.id : "";
  const readable = matching.filter(({ id }) => id >= readTo);
  const page = readable.slice(0, limit);
  const next = readable.length > limit ? page.at(-1)!.id : readTo || null;
  const isPastLive = live.every((build) => !matches(build, query) || (next !== null && build.id >= next));
  return { builds: page, next, isPastLive };
};
