import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./query.ts";
import { guard } from "./schema.ts";

/** A precondition that the database must meet when a batch commits. */
type Precondition = "token_live" | "unchanged" | "owner_exists" | "unused" | "within_limit";

/** D1 rolled the batch back because the precondition did not hold. */
export class PreconditionFailed extends Error {
  override name = "PreconditionFailed";
  readonly precondition: Precondition;
  constructor(precondition: Precondition) {
    super(precondition);
    this.precondition = precondition;
  }
}

/** D1 rolled the batch back because a row with the same unique columns exists. */
export class UniqueViolation extends Error {
  override name = "UniqueViolation";
}

/** Builds a statement that rolls its batch back unless `condition` holds. It never writes a row. */
export const ensure = (db: Database, precondition: Precondition, condition: SQL) =>
  db.insert(guard).select(sql`SELECT ${precondition} WHERE NOT (${condition})`);

/** Builds a statement that rolls its batch back if the row's version has changed since the read. */
export const ensureUnchanged = (
  db: Database,
  table: SQLiteTable & { id: SQLiteColumn; version: SQLiteColumn },
  row: { id: string; version: number },
) =>
  ensure(
    db,
    "unchanged",
    sql`EXISTS (SELECT 1 FROM ${table} WHERE ${table.id} = ${row.id} AND ${table.version} = ${row.version})`,
  );

/** Reads from an error's text why D1 rolled a batch back. Returns other errors unchanged. */
export const explainRollback = (error: unknown): unknown => {
  const text = describeChain(error);
  const failed = /CHECK constraint failed: (\w+)/.exec(text)?.[1];
  if (failed) return new PreconditionFailed(failed as Precondition);
  return text.includes("UNIQUE constraint failed") ? new UniqueViolation() : error;
};

const describeChain = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${describeChain(error.cause)}` : "";
