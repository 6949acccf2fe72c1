import { getTableColumns, getTableName, getViewSelectedFields } from "drizzle-orm";
import { type SQLiteTable, sqliteTable, text } from "drizzle-orm/sqlite-core";
import * as schema from "../../src/db/schema.ts";

export const CANARY = "canary-of-a-column-that-is-no-field";

/** The tables whose rows become records. */
const TABLES: SQLiteTable[] = [
  schema.audit,
  schema.auditLog,
  schema.build,
  schema.buildSummary,
  schema.connection,
  schema.credential,
  schema.organization,
  schema.pipeline,
  schema.repository,
  schema.token,
  schema.variable,
  schema.variableDay,
  schema.variableGroup,
];

const ofAudit = (table: string): string =>
  `SELECT org_id, id, at, actor, action, subject, request_id, detail, canary FROM ${table}`;

/** The views that lists read, made of tables with the column. */
const VIEWS = {
  audit_list: `${ofAudit("audit_log")} UNION ALL ${ofAudit("audit")}`,
  build_list: `SELECT * FROM build_summary UNION ALL SELECT *, '${CANARY}' FROM earlier_build`,
};

const column = (of: string) => sqliteTable(of, { canary: text().notNull().default(CANARY) });

// A test imports this file before the services, which read the columns when they are loaded.
for (const table of TABLES) Object.assign(getTableColumns(table), { canary: column(getTableName(table)).canary });
Object.assign(getViewSelectedFields(schema.auditList), { canary: column("audit_list").canary });
Object.assign(getViewSelectedFields(schema.buildList), { canary: column("build_list").canary });

/** Adds the column to the tables and views of the database. */
export const addCanaryColumns = async (db: D1Database): Promise<void> => {
  for (const view of Object.keys(VIEWS)) await db.prepare(`DROP VIEW ${view}`).run();
  for (const table of TABLES) {
    await db.prepare(`ALTER TABLE ${getTableName(table)} ADD COLUMN canary TEXT NOT NULL DEFAULT '${CANARY}'`).run();
  }
  for (const [view, query] of Object.entries(VIEWS)) await db.prepare(`CREATE VIEW ${view} AS ${query}`).run();
};
