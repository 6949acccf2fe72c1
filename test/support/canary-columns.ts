import { getTableColumns, getTableName } from "drizzle-orm";
import { type SQLiteTable, sqliteTable, text } from "drizzle-orm/sqlite-core";
import * as schema from "../../src/db/schema.ts";

export const CANARY = "canary-of-a-column-that-is-no-field";

/** The tables whose rows become records. */
const TABLES: SQLiteTable[] = [
  schema.auditLog,
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

const column = (of: string) => sqliteTable(of, { canary: text().notNull().default(CANARY) });

// A test imports this file before the services, which read the columns when they are loaded.
for (const table of TABLES) Object.assign(getTableColumns(table), { canary: column(getTableName(table)).canary });

/** Adds the column to the tables of the database. */
export const addCanaryColumns = async (db: D1Database): Promise<void> => {
  for (const table of TABLES) {
    await db.prepare(`ALTER TABLE ${getTableName(table)} ADD COLUMN canary TEXT NOT NULL DEFAULT '${CANARY}'`).run();
  }
};
