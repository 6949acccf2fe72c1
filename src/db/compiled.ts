import { fillPlaceholders } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Database, Query } from "./open.ts";

interface Prepared {
  getQuery(): { sql: string; params: unknown[] };
}

/** Builds queries, and runs none. */
const BUILDER = drizzle({ prepare: () => undefined } as unknown as D1Database);

/** A query with placeholders that is built once, at its first use: to build one takes longer than to fill it. */
export const compiled = <Q extends Query>(build: (db: Database) => Q) => {
  let template: Prepared | undefined;
  return (client: D1Database, values: Record<string, unknown>): Q => {
    template ??= (build(BUILDER) as unknown as { _prepare(): Prepared })._prepare();
    const { sql, params } = template.getQuery();
    const query = { sql, params: fillPlaceholders(params, values) };
    const filled = Object.assign(Object.create(template), { stmt: client.prepare(sql), getQuery: () => query });
    return { _prepare: () => filled } as unknown as Q;
  };
};
