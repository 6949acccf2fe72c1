import { Column, fillPlaceholders, is, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Database, Query } from "./query.ts";

/** What a query selects, each with the name it has in the record. */
export type Columns = Record<string, SQLiteColumn | SQL.Aliased>;

/** Fills the placeholders of a query; `shape` tells apart the forms in which it was built. */
export type Compiled<Q extends Query> = (
  client: D1Database,
  values: Record<string, unknown>,
  shape?: readonly string[],
) => Q;

/** Builds queries, and runs none. */
const BUILDER = drizzle({ prepare: () => undefined } as unknown as D1Database);

const nameOf = (column: Columns[string]): string => (is(column, Column) ? column.name : column.fieldAlias);
const isDecoded = (column: Columns[string]): column is SQLiteColumn =>
  is(column, Column) && column.mapFromDriverValue !== Column.prototype.mapFromDriverValue;

/** How D1's rows become records; what is stored as it is read is not touched. */
const reader = (columns: Columns) => {
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
 * A query that is built once for each shape and from then on only filled, as an item of drizzle's batch. To build it
 * anew, and to find out for each value of each row how it is read, was a quarter of a list's CPU.
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
