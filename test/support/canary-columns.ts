import { getTableColumns, getTableName } from "drizzle-orm";
import { type SQLiteTable, sqliteTable, text } from "drizzle-orm/sqlite-core";
import * as schema from "../../src/db/schema.ts";

export const CANARY = "canary-of-a-column-that-is-no-field";

/** The tables whose rows become records. */
const TABLES: SQLiteTable[] = [
  schema.audit,
  schema.build,
  schema.credential,
  schema.organization,
  schema.pipeline,
  schema.repository,
  schema.token,
  schema.variable,
  schema.variableGroup,
];

// A test imports this file before the services, which read the tables' columns when they are loaded.
for (const table of TABLES) {
  const { canary } = sqliteTable(getTableName(table), { canary: text().notNull().default(CANARY) });
  Object.assign(getTableColumns(table), { canary });
}

/** Adds the column to the tables of the database. */
export const addCanaryColumns = async (db: D1Database): Promise<void> => {
  for (const table of TABLES) {
    await db.prepare(`ALTER TABLE ${getTableName(table)} ADD COLUMN canary TEXT NOT NULL DEFAULT '${CANARY}'`).run();
  }
};
