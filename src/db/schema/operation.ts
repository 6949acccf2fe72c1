import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { OF_EVERY_BUILD } from "../../protocol/audit.ts";
import { quoted } from "../query.ts";

/**
 * Limits an index to actions that not every build has. Queries find the two actions of every build in the order of ids.
 */
export const isIndexedAction = sql.raw(`action NOT IN (${quoted(OF_EVERY_BUILD)})`);

/** The audit. The table has no rowid. Ids begin with their time, so times need no index. */
export const auditLog = sqliteTable(
  "audit_log",
  {
    orgId: text("org_id").notNull(),
    id: text().notNull(),
    at: text().notNull(),
    actor: text().notNull(),
    action: text().notNull(),
    subject: text().notNull(),
    requestId: text("request_id"),
    detail: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("audit_log_by_subject").on(table.orgId, table.subject, table.id),
    index("audit_log_by_actor").on(table.orgId, table.actor, table.id),
    index("audit_log_by_action").on(table.orgId, table.action, table.id).where(isIndexedAction),
  ],
);

/**
 * The state that each pool reported: the highest sequence, and the sequence up to which nothing is missing. The two
 * numbers reveal a restore.
 */
export const pool = sqliteTable("pool", {
  orgId: text("org_id").primaryKey(),
  sequence: integer().notNull(),
  complete: integer().notNull(),
  /** The number of builds that had not ended when the pool reported. */
  active: integer().notNull(),
  /** Milliseconds since 1970. */
  at: integer().notNull(),
});

/** Metrics of the whole deployment for the people on call, one row per minute. */
export const serviceMetric = sqliteTable("service_metric", {
  /** Minutes since 1970. */
  minute: integer().primaryKey(),
  facts: text().notNull(),
});

/**
 * Work that upkeep could not do. Upkeep sets it aside so that it does not block the rest, and retries it later. A row
 * of the kind `turn` is not a failure. The row records when a task is due, and the row's reason records where the task
 * resumes.
 */
export const upkeepFailure = sqliteTable(
  "upkeep_failure",
  {
    kind: text().notNull(),
    subject: text().notNull(),
    orgId: text("org_id"),
    tries: integer().notNull(),
    /** Milliseconds since 1970. */
    nextAt: integer("next_at").notNull(),
    reason: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.subject] })],
);

/**
 * A table that never holds a row. Inserting the name of a failed precondition violates the check with that name, so D1
 * rolls back the whole batch, and its error names the precondition (`db/guard.ts`).
 */
export const guard = sqliteTable("guard", { failed: text().notNull() }, (table) => [
  check("token_live", sql`${table.failed} <> 'token_live'`),
  check("unchanged", sql`${table.failed} <> 'unchanged'`),
  check("owner_exists", sql`${table.failed} <> 'owner_exists'`),
  check("unused", sql`${table.failed} <> 'unused'`),
  check("within_limit", sql`${table.failed} <> 'within_limit'`),
]);
