import { and, asc, desc, eq, gt, lt, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { SelectResultFields } from "drizzle-orm/query-builders/select.types";
import type { RunnableQuery } from "drizzle-orm/runnable-query";
import type { SQLiteColumn, SQLiteTable, SQLiteView } from "drizzle-orm/sqlite-core";
import { type Columns, compiled } from "../../db/compiled.ts";
import { encodeCursor } from "../../protocol/page.ts";
import type { Context } from "./context.ts";
import { Answer } from "./verb.ts";

type Listed = (SQLiteTable | SQLiteView) & { id: SQLiteColumn; orgId: SQLiteColumn };
type Rows<C extends Columns> = RunnableQuery<SelectResultFields<C>[], "sqlite">;

interface ListOptions<F extends string> {
  /** The condition for each of the list's filters. */
  filters?: Record<F, (value: Placeholder) => SQL | undefined>;
  /**
   * Filters whose own index finds few rows. With such a filter, the query names the id as `+id`, so that SQLite does
   * not walk the index of ids instead (https://sqlite.org/optoverview.html, "Disqualifying WHERE Clause Terms").
   */
  selective?: readonly NoInfer<F>[];
  newestFirst?: boolean;
}

interface PageRequest {
  limit?: number;
  /** The page begins after this id. */
  cursor?: string;
}

/** SQLite reads a negative LIMIT as unlimited. */
export const NO_LIMIT = -1;

/**
 * Marks a condition that has its own index and that few rows meet. Without the mark, SQLite walks all of the
 * organization's rows in the order of their ids (https://sqlite.org/lang_corefunc.html#unlikely).
 */
export const indexed = (condition: SQL): SQL => sql`unlikely(${condition})`;

/**
 * Compiles a list of the organization's rows in the order of their ids, which is the order of their creation. Pages
 * therefore stay correct while rows are added and removed. The list ignores an undefined or empty filter. It reads one
 * row more than the page has, so that `toPage` knows whether another page follows.
 */
export const listing = <C extends Columns, F extends string = never>(
  table: Listed,
  columns: C,
  { filters, selective = [], newestFirst = false }: ListOptions<F> = {},
) => {
  const names = Object.keys(filters ?? {}) as F[];
  const query = compiled(columns, (db, used) => {
    const plus = selective.some((name) => used.includes(name)) ? sql.raw("+") : sql.empty();
    const id = sql<string>`${plus}${table.id}`;
    const cursor = sql.placeholder("cursor");
    const conditions = names
      .filter((name) => used.includes(name))
      .map((name) => filters?.[name](sql.placeholder(name)));
    if (used.includes("cursor")) conditions.push(newestFirst ? lt(id, cursor) : gt(id, cursor));
    return db
      .select(columns as Columns)
      .from(table)
      .where(and(eq(table.orgId, sql.placeholder("orgId")), ...conditions))
      .orderBy(newestFirst ? desc(id) : asc(id))
      .limit(sql.placeholder("limit"));
  });
  return ({ db, orgId }: Context, page: PageRequest & { [K in F]?: unknown }): Rows<C> => {
    const used = [...names, "cursor" as const].filter((name) => page[name] !== undefined && page[name] !== "");
    const limit = page.limit === undefined ? NO_LIMIT : page.limit + 1;
    return db.bind(query, { ...page, orgId, limit }, used) as unknown as Rows<C>;
  };
};

/** Returns a page from a list that read one extra row. The page has its records and the next page's cursor. */
export const toPage = <T extends { id: string }, R>(
  rows: T[],
  { limit }: PageRequest,
  recordOf: (row: T) => R,
): Answer<R[]> => {
  if (limit === undefined || rows.length <= limit) return new Answer(rows.map(recordOf));
  const page = rows.slice(0, limit);
  return new Answer(page.map(recordOf), { nextCursor: encodeCursor(page.at(-1)?.id ?? "") });
};
