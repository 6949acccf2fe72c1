import type { Build, BuildEvent } from "../protocol/build.ts";
import { type BuildStatus, isActive, isEnded } from "../protocol/build-states.ts";

/** Which builds a list asks for. A field that is left out filters nothing. */
export interface BuildQuery {
  repoId?: string;
  pipelineId?: string;
  ref?: string;
  /** One of these. */
  refs?: readonly string[];
  /** In lower case: the whole hash, or how it begins. */
  commitSha?: string;
  status?: BuildStatus;
  event?: BuildEvent;
  trigger?: Build["trigger"];
  agentId?: string;
  /** Of the commit. */
  author?: string;
  /** The number of the pull request. */
  pull?: number;
  /** Milliseconds since 1970 of the creation: from `since` to before `until`. */
  since?: number;
  until?: number;
  /** Only builds with a smaller id, which are older. */
  before?: string;
}

/** What a query looks at. */
export interface QueriedBuild
  extends Pick<
    Build,
    "id" | "repoId" | "pipelineId" | "ref" | "commitSha" | "status" | "event" | "trigger" | "agentId" | "author"
  > {
  pull: number | null;
  /** Milliseconds since 1970. */
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

/** One page of a list of builds, before D1's rows and the pool's builds are one list. All are newest first. */
interface PageParts<B extends QueriedBuild> {
  query: BuildQuery;
  limit: number;
  /** D1's rows: `limit + 1` of them where it has as many. */
  rows: readonly B[];
  /**
   * The pool's builds that have not ended or that D1 does not know as ended: `limit + 1` where there are as many. And
   * those of `rows` that have not ended, as the pool knows them. Others are ignored.
   */
  live: readonly B[];
}

interface PageOfBuilds<B> {
  builds: B[];
  /** Where the next page begins: after this id. Null where this page is the last one. */
  next: string | null;
  /** Whether the pool named no build behind this page. */
  isPastLive: boolean;
}

/** Whether D1 is asked: it does not know in which state a build is that has not ended. */
export const asksStore = ({ status }: BuildQuery): boolean => status === undefined || isEnded(status);

/** Whether the pool is asked. `isPastLive`: on an earlier page it named no build from here on. */
export const asksPool = ({ status }: BuildQuery, isPastLive: boolean, rows: readonly QueriedBuild[]): boolean =>
  status === undefined ? !isPastLive || rows.some((row) => isActive(row.status)) : isActive(status);

const byNewest = (one: QueriedBuild, other: QueriedBuild): number => (one.id < other.id ? 1 : -1);

/** Whether the pool's word counts: always, but for a build that D1 knows as ended and a restored pool does not. */
const isCurrent = (live: QueriedBuild, row: QueriedBuild | undefined): boolean =>
  !row || !isEnded(row.status) || isEnded(live.status);

/** Lays the pool's builds over D1's rows. No build comes twice, and none in an older state than that of the pool. */
export const mergePage = <B extends QueriedBuild>({ query, limit, rows, live }: PageParts<B>): PageOfBuilds<B> => {
  const builds = new Map(rows.map((row) => [row.id, row]));
  for (const build of live) if (isCurrent(build, builds.get(build.id))) builds.set(build.id, build);
  const matching = [...builds.values()].filter((build) => matches(build, query)).sort(byNewest);
  // Behind its last row D1 was not read: a build of the pool that is older belongs to a later page.
  const readTo = rows.length > limit ? rows.at(-1)!.id : "";
  const readable = matching.filter(({ id }) => id >= readTo);
  const page = readable.slice(0, limit);
  const next = readable.length > limit ? page.at(-1)!.id : readTo || null;
  const isPastLive = live.every((build) => !matches(build, query) || (next !== null && build.id >= next));
  return { builds: page, next, isPastLive };
};
