import { sql } from "drizzle-orm";
import { index, primaryKey, sqliteTable, sqliteView, text } from "drizzle-orm/sqlite-core";
import { OF_EVERY_BUILD } from "../../protocol/audit.ts";
import { quoted } from "../quoted.ts";

const AUDIT = {
  orgId: text("org_id").notNull(),
  id: text().notNull(),
  at: text().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  requestId: text("request_id"),
  detail: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
};

/** The two actions of every build have no index of their own: they are found in the order of ids. */
export const isIndexedAction = sql.raw(`action NOT IN (${quoted(OF_EVERY_BUILD)})`);

/** Has no rowid. Ids begin with their time, so no index of times is needed. Read `auditList`. */
export const auditLog = sqliteTable("audit_log", AUDIT, (table) => [
  primaryKey({ columns: [table.orgId, table.id] }),
  index("audit_log_by_subject").on(table.orgId, table.subject, table.id),
  index("audit_log_by_actor").on(table.orgId, table.actor, table.id),
  index("audit_log_by_action").on(table.orgId, table.action, table.id).where(isIndexedAction),
]);

/** All audit rows, those that the release before wrote included. */
export const auditList = sqliteView("audit_list", AUDIT).existing();

/** The audit of the release before. Upkeep moves it. Goes with the release after this one. */
export const audit = sqliteTable(
  "audit",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    at: text().notNull(),
    actor: text().notNull(),
    action: text().notNull(),
    subject: text().notNull(),
    requestId: text("request_id"),
    detail: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  },
  (table) => [
    index("audit_by_org").on(table.orgId, table.id),
    index("audit_by_subject").on(table.orgId, table.subject, table.id),
    index("audit_by_action").on(table.orgId, table.action, table.id),
    index("audit_by_actor").on(table.orgId, table.actor, table.id),
    index("audit_by_time").on(table.at),
  ],
);
