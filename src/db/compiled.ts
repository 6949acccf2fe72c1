import { Column, fillPlaceholders, is, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Database, Query } from "./query.ts";

/** The columns that a query selects, by their names in the record. */
export type Columns = Record<string, SQLiteColumn | SQL.Aliased>;

/** Binds values to a query's placeholders. `shape` names the variant of the query, such as its set of filters. */
export type Compiled<Q extends Query> = (
  client: D1Database,
  values: Record<string, unknown>,
  shape?: readonly string[],
) => Q;

/** Builds queries without a database. */
const BUILDER = drizzle({ prepare: () => undefined } as unknown as D1Database);

const nameOf = (column: Columns[string]): string => (is(column, Column) ? column.name : column.fieldAlias);
const isDecoded = (column: Columns[string]): column is SQLiteColumn =>
  is(column, Column) && column.mapFromDriverValue !== Column.prototype.mapFromDriverValue;

/** Reads D1's rows as records. Decodes only columns with a decoder of their own, such as JSON. */
export const reader = (columns: Columns) => {
  const fields = Object.entries(columns).map(([key, column]) => ({ key, name: nameOf(column), column }));
  const decoded = fields.flatMap(({ key, column }) => (isDecoded(column) ? [{ key, column }] : []));
  return (row: Record<string, unknown>) => {
    const record: Record<string, unknown> = {};
    for (const { key, name } of fields) record[key] = row[name];
    for (const { key, column } of decoded) {
      if (record[key] !== null) record[key] = column.mapFromDriverValue(record[key]);
    }
    return record;
  };
};

/**
 * Builds a query once for each shape. Later calls only bind values. Building the query for each request, and looking up
 * the decoder of every value, took a quarter of a list's CPU time. The result is an item for drizzle's `batch`, which
 * calls the private `_prepare` of its items. This works with drizzle-orm 0.45.4, and every test of a list covers it.
 */
export const compiled = <Q extends Query & { toSQL(): { sql: string; params: unknown[] } }>(
  columns: Columns,
  build: (db: Database, shape: readonly string[]) => Q,
): Compiled<Q> => {
  const read = reader(columns);
  const mapResult = ({ results }: D1Result<Record<string, unknown>>) => results.map(read);
  const built = new Map<string, { sql: string; params: unknown[] }>();
  return (client, values, shape = []) => {
    const name = shape.join();
    const { sql, params } = built.get(name) ?? build(BUILDER, shape).toSQL();
    built.set(name, { sql, params });
    const query = { sql, params: fillPlaceholders(params, values) };
    return { _prepare: () => ({ stmt: client.prepare(sql), getQuery: () => query, mapResult }) } as unknown as Q;
  };
};
