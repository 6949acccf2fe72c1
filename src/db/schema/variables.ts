import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { GroupProtection } from "../../protocol/group.ts";
import type { FileEncoding, Scope } from "../../protocol/variable.ts";

export const variable = sqliteTable(
  "variable",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    scope: text().$type<Scope>().notNull(),
    /** The id of the organization, group, repository or pipeline that owns the variable. */
    ownerId: text("owner_id").notNull(),
    key: text().notNull(),
    /** The value of a plain variable. */
    value: text(),
    /** The sealed value of a secret. `sealedVersion`, the version that sealed it, is part of the seal's context. */
    sealed: text(),
    sealedVersion: integer("sealed_version").notNull().default(0),
    isSecret: integer("is_secret", { mode: "boolean" }).notNull(),
    description: text(),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    allowOverride: integer("allow_override", { mode: "boolean" }).notNull(),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
    lastUsedAt: text("last_used_at"),
    lastUsedBy: text("last_used_by"),
    /** The encoding of the file; null if the variable is not a file. */
    fileEncoding: text("file_encoding").$type<FileEncoding>(),
    /** The name of the file; null if the file has the name of its variable. */
    fileName: text("file_name"),
  },
  (table) => [
    uniqueIndex("variable_by_owner").on(table.orgId, table.scope, table.ownerId, table.key),
    index("variable_by_org").on(table.orgId, table.id),
    index("variable_by_key").on(table.orgId, table.key, table.id),
  ],
);

/** The first hand-out of a variable on each day (UTC). The table has no rowid. */
export const variableDay = sqliteTable(
  "variable_day",
  {
    variableId: text("variable_id").notNull(),
    day: text().notNull(),
    buildId: text("build_id").notNull(),
    agentId: text("agent_id").notNull(),
    at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.variableId, table.day] }), index("variable_day_by_day").on(table.day)],
);

/**
 * A known text, which the service seals with each key of SECRETS_KEYS when it first uses the key. A key that does not
 * open its row is wrong.
 */
export const keyCheck = sqliteTable("key_check", {
  id: text().primaryKey(),
  sealed: text().notNull(),
});

export const variableGroup = sqliteTable(
  "variable_group",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    name: text().notNull(),
    description: text(),
    /** The group's protection; null if the group's variables reach every job of the pipelines that attach the group. */
    protection: text({ mode: "json" }).$type<GroupProtection>(),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("variable_group_by_name").on(table.orgId, table.name),
    index("variable_group_by_org").on(table.orgId, table.id),
  ],
);

/** A pipeline's groups in order. A later group overrides an earlier one. */
export const pipelineGroup = sqliteTable(
  "pipeline_group",
  {
    pipelineId: text("pipeline_id").notNull(),
    position: integer().notNull(),
    groupId: text("group_id").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.pipelineId, table.position] }),
    index("pipeline_group_by_group").on(table.groupId),
  ],
);
