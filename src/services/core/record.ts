import { and, eq, type SQL } from "drizzle-orm";
import type { SelectResultFields } from "drizzle-orm/query-builders/select.types";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type * as z from "zod/mini";
import type { Columns } from "../../db/compiled.ts";
import { ensureUnchanged } from "../../db/guard.ts";
import type { Query } from "../../db/query.ts";
import { PathId } from "../../protocol/common.ts";
import type { Role } from "../../protocol/token.ts";
import { type Context, entityTag } from "./context.ts";
import { notFound, Refusal } from "./refusal.ts";
import { verb, versioned } from "./verb.ts";

type OwnedTable = SQLiteTable & { id: SQLiteColumn; orgId: SQLiteColumn };
type VersionedTable = OwnedTable & { version: SQLiteColumn };
interface Versioned {
  id: string;
  version: number;
}

/** Returns the condition for the row with this id in the caller's organization. */
export const isOwn = (context: Context, table: OwnedTable, id: string | SQL): SQL | undefined =>
  and(eq(table.orgId, context.orgId), eq(table.id, id));

/** Checks the versions in If-Match. @throws Refusal stale-version if the client names other versions */
export const checkVersion = ({ headers }: Context, version: number): void => {
  const matches = headers.ifMatch?.some((tag) => tag === "*" || tag === entityTag(version));
  if (matches === false) throw new Refusal("stale-version", "The record has changed since you read it: read it again.");
};

/** Returns the organization's row with this id, if it exists. @throws Refusal stale-version */
export const lookUp = async <C extends Columns & { version: SQLiteColumn }>(
  context: Context,
  table: VersionedTable,
  columns: C,
  id: string,
): Promise<SelectResultFields<C> | undefined> => {
  const query = context.db.sql
    .select(columns as Columns)
    .from(table)
    .where(isOwn(context, table, id));
  const [[row]] = (await context.db.run(query)) as unknown as [(SelectResultFields<C> & Versioned)[]];
  if (row) checkVersion(context, row.version);
  return row;
};

/** Returns the organization's row with this id. @throws Refusal not-found, stale-version */
export const findOne = async <C extends Columns & { version: SQLiteColumn }>(
  context: Context,
  table: VersionedTable,
  columns: C,
  id: string,
): Promise<SelectResultFields<C>> => {
  const row = await lookUp(context, table, columns, id);
  if (!row) throw notFound();
  return row;
};

/** Creates the verb that reads one row as a record, together with its version. */
export const makeGetter = <C extends Columns & { version: SQLiteColumn }, O extends z.ZodMiniType>(
  role: Role,
  table: VersionedTable,
  columns: C,
  output: O,
  recordOf: (row: SelectResultFields<C>) => z.output<O>,
) =>
  verb({
    access: { role },
    params: PathId,
    output,
    async run(context, { params }) {
      const row = await findOne(context, table, columns, params.id);
      return versioned(recordOf(row), (row as Versioned).version);
    },
  });

/** Returns the columns that every change to a row sets. */
export const nextVersion = ({ at }: Context, { version }: Versioned) => ({ version: version + 1, updatedAt: at });

/**
 * Creates statements that write `columns` to the row. They roll the batch back if the row changed after the caller read
 * it.
 */
export const updateRow = (context: Context, table: VersionedTable, row: Versioned, columns: object): Query[] => [
  ensureUnchanged(context.db.sql, table, row),
  context.db.sql
    .update(table)
    .set(columns)
    .where(isOwn(context, table, row.id)),
];

/**
 * Creates statements that delete the row after its `owned` rows. They roll the batch back if the row changed after the
 * caller read it.
 */
export const deleteRow = (context: Context, table: VersionedTable, row: Versioned, owned: Query[] = []): Query[] => [
  ensureUnchanged(context.db.sql, table, row),
  ...owned,
  context.db.sql.delete(table).where(isOwn(context, table, row.id)),
];
