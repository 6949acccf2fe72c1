import { sql } from "drizzle-orm";
import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { OF_EVERY_BUILD } from "../../protocol/audit.ts";
import { quoted } from "../quoted.ts";

/** The two actions of every build have no index of their own: they are found in the order of ids. */
export const isIndexedAction = sql.raw(`action NOT IN (${quoted(OF_EVERY_BUILD)})`);

/** Has no rowid. Ids begin with their time, so no index of times is needed. */
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
