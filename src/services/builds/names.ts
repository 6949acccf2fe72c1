import { type SQL, sql } from "drizzle-orm";
import type { Context } from "../core/context.ts";

/** A record's display name and kind. */
export interface Named {
  kind: "build" | "job" | "token" | "repository" | "pipeline" | "variable" | "group" | "connection" | "schedule";
  /** The display name, such as `#84 acme/shop / ci` for a build or one of its jobs. */
  name: string;
}

type Kind = Named["kind"];
/** Ids by kind. The ids of builds may also include ids of jobs. */
export type IdsByKind = Partial<Record<Kind, string[]>>;

/** The maximum number of records of a kind in one lookup. */
const MOST = 100;

const PIPELINE = sql.raw("coalesce(r.full_name, 'removed repository') || coalesce(' / ' || p.name, '')");
const BUILD = sql`'#' || b.number || ' ' || ${PIPELINE}`;
const OWNERS = sql.raw(`LEFT JOIN repository r ON r.id = b.repo_id AND r.org_id = b.org_id
  LEFT JOIN pipeline p ON p.id = b.pipeline_id AND p.org_id = b.org_id`);

/** Looks up each id separately. Otherwise, D1 would read all of the organization's rows. */
const plain =
  (table: string, name: string) =>
  (orgId: string, ids: string): SQL =>
    sql`SELECT t.id, ${sql.raw(name)} AS name FROM json_each(${ids}) j
      CROSS JOIN ${sql.raw(table)} t ON t.id = j.value WHERE t.org_id = ${orgId}`;

const QUERIES: Record<Kind, (orgId: string, ids: string) => SQL> = {
  token: plain("token", "t.name"),
  repository: plain("repository", "t.full_name"),
  variable: plain("variable", "t.key"),
  group: plain("variable_group", "t.name"),
  connection: plain("connection", "t.name"),
  schedule: plain("schedule", "t.name"),
  pipeline: (orgId, ids) => sql`SELECT p.id, ${PIPELINE} AS name FROM json_each(${ids}) j
    CROSS JOIN pipeline p ON p.id = j.value LEFT JOIN repository r ON r.id = p.repo_id WHERE p.org_id = ${orgId}`,
  build: (orgId, ids) => sql`SELECT b.id, ${BUILD} AS name FROM json_each(${ids}) j
    CROSS JOIN build_summary b ON b.org_id = ${orgId} AND b.id = j.value ${OWNERS}`,
  // Each pair has a job and its build. The build is null for an ended job.
  job: (orgId, pairs) => sql`SELECT j.value ->> 0 AS id, ${BUILD} AS name FROM json_each(${pairs}) j
    LEFT JOIN job ended ON ended.org_id = ${orgId} AND ended.id = j.value ->> 0
    JOIN build_summary b ON b.org_id = ${orgId} AND b.id = coalesce(j.value ->> 1, ended.build_id) ${OWNERS}`,
};

/** Returns the builds of active jobs. Only the organization's pool knows them. */
const buildsOfJobs = async (context: Context, ids: string[]): Promise<Map<string, string>> => {
  return ids.length === 0 ? new Map() : (await context.pool()).buildsOfJobs(ids);
};

/**
 * Returns the named records by id, without deleted ones. The lookup takes one round to D1, and a call to the pool for
 * jobs.
 */
export const readNames = async (context: Context, idsByKind: IdsByKind): Promise<Map<string, Named>> => {
  const firstIds = (ids: string[] = []): string[] => [...new Set(ids)].slice(0, MOST);
  const jobs = firstIds([...(idsByKind.job ?? []), ...(idsByKind.build ?? [])]);
  const underWay = await buildsOfJobs(context, jobs);
  const queries = (Object.keys(QUERIES) as Kind[]).flatMap((kind) => {
    const ids = kind === "job" ? jobs.map((id) => [id, underWay.get(id) ?? null]) : firstIds(idsByKind[kind]);
    return ids.length > 0 ? [{ kind, query: QUERIES[kind](context.orgId, JSON.stringify(ids)) }] : [];
  });
  if (queries.length === 0) return new Map();
  const statements = queries.map(({ query }) => context.db.statement<{ id: string; name: string }>(query));
  const results = await context.db.run(...statements);
  const names = results.map(({ results }, at) =>
    results.map(({ id, name }) => ({ id, name, kind: queries[at]!.kind })),
  );
  return new Map(names.flat().map(({ id, ...one }) => [id, one]));
};
