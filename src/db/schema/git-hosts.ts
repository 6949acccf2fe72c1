import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { HostKind } from "../../protocol/connection.ts";

/** A git host, or an app at one, that sends events and receives states. `sealed` holds its secrets. */
export const connection = sqliteTable(
  "connection",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    kind: text().$type<HostKind>().notNull(),
    name: text().notNull(),
    webUrl: text("web_url").notNull(),
    apiUrl: text("api_url").notNull(),
    cloneOrigin: text("clone_origin").notNull(),
    auth: text().$type<"app" | "token" | "none">().notNull(),
    appId: text("app_id"),
    clientId: text("client_id"),
    installationId: text("installation_id"),
    account: text(),
    sealed: text(),
    sealedVersion: integer("sealed_version").notNull().default(0),
    hookGeneration: integer("hook_generation").notNull().default(1),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [index("connection_by_org").on(table.orgId, table.id)],
);

/** The open pull requests of connected repositories. */
export const openPull = sqliteTable(
  "open_pull",
  {
    repoId: text("repo_id").notNull(),
    number: integer().notNull(),
    ref: text().notNull(),
    base: text().notNull(),
    headSha: text("head_sha").notNull(),
    draft: integer({ mode: "boolean" }).notNull(),
    labels: text("labels_json", { mode: "json" }).$type<string[]>().notNull(),
    author: text(),
    title: text(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.repoId, table.number] })],
);

/**
 * Pushes by authors on a repository's list, and pushes by others to a member's fork. `name` is a full ref or a commit.
 * A commit stays until `until`, because its branch may be deleted and created again. The login is in lower case.
 */
export const listedPush = sqliteTable(
  "listed_push",
  {
    repoId: text("repo_id").notNull(),
    name: text().notNull(),
    login: text().notNull(),
    until: text(),
  },
  (table) => [
    primaryKey({ columns: [table.repoId, table.name, table.login] }),
    index("listed_push_by_end").on(table.until),
  ],
);

/** Variables of a schedule's runs: their names, and all values as one sealed text. */
export interface ScheduledValues {
  keys: string[];
  sealed: string;
}

/**
 * A schedule of builds at set times. `nextAt` is the first future time: all missed times together trigger one build.
 */
export const schedule = sqliteTable(
  "schedule",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    pipelineId: text("pipeline_id").notNull(),
    name: text().notNull(),
    envVariables: text("env_variables", { mode: "json" }).$type<ScheduledValues>(),
    cron: text().notNull(),
    timeZone: text("time_zone").notNull(),
    ref: text(),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    nextAt: text("next_at").notNull(),
    /** The creator of the schedule: a request, or the pipeline's file. */
    source: text().$type<"api" | "file">().notNull().default("api"),
    lastAt: text("last_at"),
    lastBuildId: text("last_build_id"),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [
    index("schedule_by_org").on(table.orgId, table.id),
    uniqueIndex("schedule_by_name").on(table.pipelineId, table.name),
    index("schedule_by_time").on(table.isActive, table.nextAt),
  ],
);
