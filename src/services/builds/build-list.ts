import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { buildSummary, token } from "../../db/schema.ts";
import { asksPool, asksStore, type BuildQuery, mergePage, type QueriedBuild } from "../../domain/build-list.ts";
import { refOf, refsNamed } from "../../domain/git-ref.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import { Build, BuildFilter } from "../../protocol/build.ts";
import { isActive } from "../../protocol/build-states.ts";
import { DEFAULTS } from "../../protocol/limits.ts";
import { encodeBuildsCursor } from "../../protocol/page.ts";
import { DAY_MS, MINUTE_MS } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";
import { indexed, listing } from "../core/listing.ts";
import { Answer, verb } from "../core/verb.ts";
import { BUILD_COLUMNS, buildOfRow, buildRecord } from "./build-view.ts";

type Filter = z.output<typeof BuildFilter>;

/**
 * Milliseconds by which a build's id and its time differ at most. The Worker creates the id, and the pool sets the
 * time.
 */
const ID_AHEAD_MS = 5 * MINUTE_MS;
/** The possible numbers of hexadecimal digits in a full commit hash: SHA-1 or SHA-256. */
const WHOLE_HASHES = [40, 64];

const rows = listing(buildSummary, BUILD_COLUMNS, {
  filters: {
    repoId: (id) => indexed(eq(buildSummary.repoId, id)),
    pipelineId: (id) => indexed(eq(buildSummary.pipelineId, id)),
    ref: (ref) => indexed(eq(buildSummary.ref, ref)),
    commit: (sha) => indexed(eq(buildSummary.commitSha, sha)),
    commitFrom: (sha) => indexed(gte(buildSummary.commitSha, sha)),
    commitTo: (sha) => indexed(lt(buildSummary.commitSha, sha)),
    status: (status) => eq(buildSummary.status, status),
    event: (event) => eq(buildSummary.event, event),
    trigger: (trigger) => eq(buildSummary.trigger, trigger),
    agentId: (id) => eq(buildSummary.agentId, id),
    author: (author) => eq(buildSummary.author, author),
    pull: (number) => eq(buildSummary.pull, number),
    since: (at) => gte(buildSummary.queuedAt, at),
    sinceId: (id) => gte(buildSummary.id, id),
    until: (at) => lt(buildSummary.queuedAt, at),
    untilId: (id) => lt(buildSummary.id, id),
  },
  newestFirst: true,
});

/** Converts a request's filters to a query. Returns null if two of the filters exclude each other. */
const toQuery = ({ branch, ref, refName, cursor, since, until, limit, ...equal }: Filter): BuildQuery | null => {
  const filters = [ref ? [ref] : [], branch ? [refOf(branch)] : [], refName ? refsNamed(refName) : []];
  const [first, ...others] = filters.filter(({ length }) => length > 0);
  const refs = first?.filter((one) => others.every((other) => other.includes(one)));
  if (refs?.length === 0) return null;
  return {
    ...equal,
    ...(refs && (refs.length === 1 ? { ref: refs[0] } : { refs })),
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
    before: cursor?.id,
  };
};

/** Converts the query to D1's columns and indexes. */
const toConditions = ({ before, commitSha, refs: _, ...query }: BuildQuery, limit: number) => {
  const isWhole = commitSha !== undefined && WHOLE_HASHES.includes(commitSha.length);
  return {
    ...query,
    limit,
    cursor: before,
    commit: isWhole ? commitSha : undefined,
    commitFrom: isWhole ? undefined : commitSha,
    // "g" sorts after every hexadecimal digit.
    commitTo: isWhole ? undefined : commitSha && `${commitSha}g`,
    sinceId: query.since === undefined ? undefined : firstIdAt(query.since - ID_AHEAD_MS),
    untilId: query.until === undefined ? undefined : firstIdAt(query.until + ID_AHEAD_MS),
  };
};

interface ListedBuild extends QueriedBuild {
  build: Build;
}

const listed = (build: Build): ListedBuild => {
  const { id, repoId, pipelineId, ref, commitSha, status, event, trigger, agentId, author } = build;
  const pull = build.pull?.number ?? null;
  const queuedAt = Date.parse(build.queuedAt);
  return { id, repoId, pipelineId, ref, commitSha, status, event, trigger, agentId, author, pull, queuedAt, build };
};

/** Returns D1's rows for the page. Returns no rows if the query requires a state whose builds only the pool knows. */
const storedBuilds = async (context: Context, query: BuildQuery, limit: number): Promise<ListedBuild[]> => {
  if (!asksStore(query)) return [];
  const conditions = toConditions(query, limit);
  // Each ref has its own query, which uses the index. For a list of refs, SQLite would sort all of their builds.
  const each = query.refs?.map((ref) => ({ ...conditions, ref })) ?? [conditions];
  const rowsOfEach = await context.db.run(...each.map((one) => rows(context, one)));
  const newest = rowsOfEach.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
  return newest.slice(0, limit + 1).map((row) => listed(buildRecord(context, buildOfRow(row))));
};

/** Returns the pool's builds for the page, and the current state of builds whose end D1 does not know yet. */
const liveBuilds = async (context: Context, query: BuildQuery, limit: number, storedList: ListedBuild[]) => {
  const ids = storedList.filter(({ status }) => isActive(status)).map(({ id }) => id);
  const live = await (await context.pool()).liveBuilds({ ...query, limit: limit + 1, ids });
  return live.map((build) => listed({ ...buildRecord(context, build), environment: null, steps: [], summary: null }));
};

export const listBuilds = verb({
  access: { role: "viewer" },
  query: BuildFilter,
  output: z.array(Build),
  async run(context, { query: filter }) {
    const query = toQuery(filter);
    if (!query) {
      await context.admit();
      return [];
    }
    const { limit = DEFAULTS.newestPageLength } = filter;
    const storedRows = await storedBuilds(context, query, limit);
    const wasPastLive = filter.cursor?.isPastLive ?? false;
    const live = asksPool(query, wasPastLive, storedRows) ? await liveBuilds(context, query, limit, storedRows) : [];
    const { builds, next, isPastLive } = mergePage({ query, limit, rows: storedRows, live });
    // A trigger in progress has already created its build's id, but its pool does not know the id yet.
    const isOld = next !== null && next < firstIdAt(context.now.getTime() - ID_AHEAD_MS);
    const nextCursor = next === null ? undefined : encodeBuildsCursor(next, isPastLive && isOld);
    return new Answer(
      builds.map(({ build }) => build),
      { nextCursor },
    );
  },
});

/** The number of active builds at most, and of recently ended builds at most. */
const LIVE = 200;
const LAST = 60;
const SINCE_MS = DAY_MS;

export interface ForYou {
  /** Active builds, the newest first. */
  live: Build[];
  /** Failed builds of the last day that the caller's token requested, the newest first. */
  failed: Build[];
}

/** Reads the builds that may concern the caller. It takes one round to D1 and one call to the pool. */
export const readForYou = async (context: Context): Promise<ForYou> => {
  const { db, orgId } = context;
  const isOwn = sql`${buildSummary.createdBy} ->> 'id' =
    (SELECT ${token.id} FROM ${token} WHERE ${token.hash} = ${context.caller.tokenHash})`;
  const last = db.sql
    .select()
    .from(buildSummary)
    .where(and(eq(buildSummary.orgId, orgId), gte(buildSummary.id, firstIdAt(context.now.getTime() - SINCE_MS))))
    .orderBy(desc(buildSummary.id))
    .limit(LAST);
  const [[rows], live] = await Promise.all([
    db.run(
      db.sql
        .select()
        .from(last.as("build_summary"))
        .where(and(eq(buildSummary.status, "failed"), isOwn)),
    ),
    context.pool().then((pool) => pool.liveBuilds({ limit: LIVE, ids: [] })),
  ]);
  return {
    live: live.map((build) => buildRecord(context, build)).sort((a, b) => (a.id < b.id ? 1 : -1)),
    failed: rows.map((row) => buildRecord(context, buildOfRow(row))),
  };
};
