import { gt, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { encodeCursor } from "../protocol/page.ts";
import type { Context } from "./context.ts";

export interface PageOf {
  limit?: number;
  cursor?: string;
}

const EVERYTHING = -1;

/** Rows after the cursor's, oldest first; ids sort by time, so pages stay right while rows come and go. */
export const after = (id: SQLiteColumn | SQL, { cursor }: PageOf): SQL | undefined =>
  cursor ? gt(id as SQLiteColumn, cursor) : undefined;

/** The id where other columns find the rows: by its order alone SQLite would rather read all of the organization's. */
export const sortedId = (id: SQLiteColumn): SQL => sql`+${id}`;

/** The same, newest first. */
export const before = (id: SQLiteColumn, { cursor }: PageOf): SQL | undefined => (cursor ? lt(id, cursor) : undefined);

/** One row more than the page has, which tells whether there is a next one. */
export const rowsFor = ({ limit }: PageOf): number => (limit === undefined ? EVERYTHING : limit + 1);

/** The rows of this page; the answer will lead to the next one where there is one. */
export const pageOf = <T extends { id: string }>(context: Context, rows: T[], { limit }: PageOf): T[] => {
  if (limit === undefined || rows.length <= limit) return rows;
  const kept = rows.slice(0, limit);
  context.nextCursor = encodeCursor(kept.at(-1)?.id ?? "");
  return kept;
};
