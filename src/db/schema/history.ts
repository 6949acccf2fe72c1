import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * One row for each pipeline of whose default branch, or of tags, a build has ended: upkeep counts it from the rows of
 * builds. Has no rowid.
 */
export const pipelineHistory = sqliteTable(
  "pipeline_history",
  {
    orgId: text("org_id").notNull(),
    pipelineId: text("pipeline_id").notNull(),
    /** Ids of the newest and of the oldest of `builds`; empty without any. */
    newest: text().notNull(),
    oldest: text().notNull(),
    isRed: integer("is_red", { mode: "boolean" }).notNull(),
    /** As `src/domain/history` has them. */
    builds: text().notNull(),
    days: text().notNull(),
    /** Milliseconds since 1970: when it was last counted, and when all days of it were. */
    countedAt: integer("counted_at").notNull(),
    recountedAt: integer("recounted_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.pipelineId] }),
    index("pipeline_history_by_newest").on(table.orgId, table.newest),
    index("pipeline_history_red").on(table.orgId, table.newest).where(sql`is_red = 1`),
  ],
);
