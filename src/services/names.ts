import { type SQL, sql } from "drizzle-orm";
import type { Context } from "./core/context.ts";
import { isOfOlderObject } from "./core/outage.ts";

/** What people call a thing, and what kind of thing it is. */
export interface Named {
  kind: "build" | "job" | "token" | "repository" | "pipeline" | "variable" | "group" | "connection" | "schedule";
  /** `#84 acme/shop / ci` for a build or a job of it. */
  name: string;
}

/** Things that are named at once. */
const MOST = 100;

const PIPELINE = sql.raw("coalesce(r.full_name, 'removed repository') || coalesce(' / ' || p.name, '')");
const BUILD = sql`'#' || b.number || ' ' || ${PIPELINE}`;
const OWNERS = sql.raw(`LEFT JOIN repository r ON r.id = b.repo_id AND r.org_id = b.org_id
  LEFT JOIN pipeline p ON p.id = b.pipeline_id AND p.org_id = b.org_id`);

/** A row for each thing with one of these ids: a query for each kind. `jobs`: pairs of a job under way and its build. */
const namesOfEach = (orgId: string, ids: string, jobs: string): SQL[] => {
  const isOwn = (table: string): SQL =>
    sql`${sql.raw(table)}.org_id = ${orgId} AND ${sql.raw(table)}.id IN (SELECT value FROM json_each(${ids}))`;
  const plain = (kind: Named["kind"], table: string, name: string): SQL =>
    sql`SELECT ${kind} AS kind, id, ${sql.raw(name)} AS name FROM ${sql.raw(table)} WHERE ${isOwn(table)}`;
  return [
    plain("token", "token", "name"),
    plain("repository", "repository", "full_name"),
    plain("variable", "variable", "key"),
    plain("group", "variable_group", "name"),
    plain("connection", "connection", "name"),
    plain("schedule", "schedule", "name"),
    sql`SELECT 'pipeline' AS kind, p.id, ${PIPELINE} AS name FROM pipeline p
      LEFT JOIN repository r ON r.id = p.repo_id WHERE ${isOwn("p")}`,
    sql`SELECT 'build' AS kind, b.id, ${BUILD} AS name FROM build_summary b ${OWNERS} WHERE ${isOwn("b")}`,
    sql`SELECT 'job' AS kind, j.id, ${BUILD} AS name FROM job j
      JOIN build_summary b ON b.org_id = j.org_id AND b.id = j.build_id ${OWNERS} WHERE ${isOwn("j")}`,
    sql`SELECT 'job' AS kind, j.value ->> 0 AS id, ${BUILD} AS name FROM json_each(${jobs}) j
      JOIN build_summary b ON b.org_id = ${orgId} AND b.id = j.value ->> 1 ${OWNERS}`,
  ];
};

/** The builds of jobs that have not ended, which only their pool knows. */
const buildsOfJobs = async (context: Context, ids: string[]): Promise<string[][]> => {
  try {
    return await (await context.pool()).buildsOfJobs(ids);
  } catch (error) {
    if (isOfOlderObject(error)) return [];
    throw error;
  }
};

/** What has one of these ids, by its id. A thing that is gone is left out. One round to D1, and one call of the pool. */
export const readNames = async (context: Context, ids: string[]): Promise<Map<string, Named>> => {
  const wanted = [...new Set(ids)].slice(0, MOST);
  if (wanted.length === 0) return new Map();
  const jobs = await buildsOfJobs(context, wanted);
  const queries = namesOfEach(context.orgId, JSON.stringify(wanted), JSON.stringify(jobs));
  const found = await context.db.run(...queries.map((query) => context.db.statement<Named & { id: string }>(query)));
  return new Map(found.flatMap(({ results }) => results).map(({ id, kind, name }) => [id, { kind, name }]));
};
