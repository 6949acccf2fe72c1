import { type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./query.ts";
import {
  auditLog,
  connection,
  credential,
  listedPush,
  openPull,
  pipeline,
  pipelineGroup,
  pipelineHistory,
  pool,
  repository,
  schedule,
  testResult,
  token,
  upkeepFailure,
  variable,
  variableDay,
  variableGroup,
} from "./schema.ts";

/** A table with rows of organizations: the columns of its key, and a condition for one organization's rows. */
interface Owned {
  table: SQLiteTable;
  key: string;
  isOwn(orgId: string): SQL;
}

const ofOrganization = (orgId: string): SQL => sql`org_id = ${orgId}`;
const ofVariables = (orgId: string): SQL => sql`variable_id IN (SELECT id FROM variable WHERE org_id = ${orgId})`;
const ofPipelines = (orgId: string): SQL => sql`pipeline_id IN (SELECT id FROM pipeline WHERE org_id = ${orgId})`;
const ofRepositories = (orgId: string): SQL => sql`repo_id IN (SELECT id FROM repository WHERE org_id = ${orgId})`;

/** Every table with rows of organizations, except those of builds. A row comes before the rows that lead to it. */
export const OWNED: readonly Owned[] = [
  { table: variableDay, key: "variable_id, day", isOwn: ofVariables },
  { table: variable, key: "id", isOwn: ofOrganization },
  { table: variableGroup, key: "id", isOwn: ofOrganization },
  { table: schedule, key: "id", isOwn: ofOrganization },
  { table: pipelineGroup, key: "pipeline_id, position", isOwn: ofPipelines },
  { table: pipelineHistory, key: "org_id, pipeline_id", isOwn: ofOrganization },
  { table: pipeline, key: "id", isOwn: ofOrganization },
  { table: openPull, key: "repo_id, number", isOwn: ofRepositories },
  { table: listedPush, key: "repo_id, name, login", isOwn: ofRepositories },
  { table: credential, key: "repo_id", isOwn: ofOrganization },
  { table: repository, key: "id", isOwn: ofOrganization },
  { table: connection, key: "id", isOwn: ofOrganization },
  { table: testResult, key: "org_id, job_id, test_id", isOwn: ofOrganization },
  { table: upkeepFailure, key: "kind, subject", isOwn: ofOrganization },
  { table: auditLog, key: "org_id, id", isOwn: ofOrganization },
  { table: pool, key: "org_id", isOwn: ofOrganization },
  { table: token, key: "id", isOwn: ofOrganization },
];

/** Deletes an organization's first rows in a table. Returns one row for each deleted row. */
export const deleteRows = (db: Database, { table, key, isOwn }: Owned, orgId: string, limit: number) => {
  const first = sql`SELECT ${sql.raw(key)} FROM ${table} WHERE ${isOwn(orgId)} LIMIT ${limit}`;
  return db
    .delete(table)
    .where(sql`(${sql.raw(key)}) IN (${first})`)
    .returning({ one: sql<number>`1` });
};
