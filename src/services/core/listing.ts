import { and, asc, desc, eq, gt, lt, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { SelectResultFields } from "drizzle-orm/query-builders/select.types";
import type { RunnableQuery } from "drizzle-orm/runnable-query";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Columns, compiled } from "../../db/compiled.ts";
import type { Context } from "./context.ts";
import type { PageOf } from "./paging.ts";

type Listed = SQLiteTable & { id: SQLiteColumn; orgId: SQLiteColumn };
type Rows<C extends Columns> = RunnableQuery<SelectResultFields<C>[], "sqlite">;

interface Ways<F extends string> {
  /** What a list may be asked by: the condition on each one's value. */
  filters?: Record<F, (value: Placeholder) => SQL | undefined>;
  /** Filters whose columns find the rows: by the id's order SQLite would rather read all of the organization's. */
  finders?: readonly NoInfer<F>[];
  newestFirst?: boolean;
}

const EVERYTHING = -1;

/**
 * A query for the organization's rows of a table by id, which is by time: pages stay right while rows come and go.
 * It reads one row more than the page has, which tells whether there is a next one. A filter without a value is none.
 */
export const listing = <C extends Columns, F extends string = never>(
  table: Listed,
  columns: C,
  { filters, finders = [], newestFirst = false }: Ways<F> = {},
) => {
  const names = Object.keys(filters ?? {}) as F[];
  const query = compiled(columns, (db, asked) => {
    const id = sql<string>`${finders.some((name) => asked.includes(name)) ? sql.raw("+") : sql.empty()}${table.id}`;
    const cursor = sql.placeholder("cursor");
    const conditions = names
      .filter((name) => asked.includes(name))
      .map((name) => filters?.[name](sql.placeholder(name)));
    if (asked.includes("cursor")) conditions.push(newestFirst ? lt(id, cursor) : gt(id, cursor));
    return db
      .select(columns as Columns)
      .from(table)
      .where(and(eq(table.orgId, sql.placeholder("orgId")), ...conditions))
      .orderBy(newestFirst ? desc(id) : asc(id))
      .limit(sql.placeholder("limit"));
  });
  return ({ db, orgId }: Context, asked: PageOf & { [K in F]?: unknown }): Rows<C> => {
    const given = [...names, "cursor" as const].filter((name) => asked[name] !== undefined && asked[name] !== "");
    const limit = asked.limit === undefined ? EVERYTHING : asked.limit + 1;
    return db.bind(query, { ...asked, orgId, limit }, given) as unknown as Rows<C>;
  };
};
