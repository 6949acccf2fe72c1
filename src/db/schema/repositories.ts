import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Requires } from "../../protocol/pipeline.ts";
import type { CredentialKind, Forks } from "../../protocol/repository.ts";

export const repository = sqliteTable(
  "repository",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    gitHostRepoId: integer("git_host_repo_id").notNull(),
    cloneHost: text("clone_host").notNull(),
    fullName: text("full_name").notNull(),
    cloneUrl: text("clone_url").notNull(),
    defaultBranch: text("default_branch").notNull(),
    defaultPipelineId: text("default_pipeline_id"),
    /** The git host that reports pushes; null if nobody connected the repository. */
    connectionId: text("connection_id"),
    /** The hook's id at the git host. */
    hostHookId: text("host_hook_id"),
    forks: text().$type<Forks>().notNull().default("off"),
    /** The logins of authors whose code gets no secrets. */
    untrustedAuthors: text("untrusted_authors_json", { mode: "json" }).$type<string[]>(),
    /** The last pushed commits whose authors skipped the build, newest first. */
    skippedHeads: text("skipped_heads_json", { mode: "json" }).$type<string[]>(),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("repository_by_host_id").on(table.orgId, table.cloneHost, table.gitHostRepoId),
    uniqueIndex("repository_by_connection").on(table.orgId, table.connectionId, table.gitHostRepoId),
    index("repository_by_org").on(table.orgId, table.id),
    index("repository_by_name").on(table.orgId, table.fullName, table.id),
    index("repository_by_clone_url").on(table.orgId, table.cloneUrl, table.id),
  ],
);

export const credential = sqliteTable("credential", {
  repoId: text("repo_id").primaryKey(),
  orgId: text("org_id").notNull(),
  kind: text().$type<CredentialKind>().notNull(),
  username: text(),
  sealed: text().notNull(),
  version: integer().notNull().default(1),
  updatedAt: text("updated_at").notNull(),
});

export const pipeline = sqliteTable(
  "pipeline",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    repoId: text("repo_id").notNull(),
    name: text().notNull(),
    configPath: text("config_path").notNull(),
    definition: text(),
    requires: text({ mode: "json" }).$type<Requires>().notNull(),
    timeoutSeconds: integer("timeout_seconds").notNull(),
    maxParallel: integer("max_parallel"),
    maxAttempts: integer("max_attempts").notNull(),
    /** The events that trigger a build; null means that the pipeline file decides. */
    on: text("on_json", { mode: "json" }).$type<Record<string, unknown>>(),
    /** The content of the pipeline's file on the default branch, when the service last read it. */
    fileSnapshot: text("file_snapshot_json", { mode: "json" }).$type<Record<string, unknown>>(),
    /** The name of the pipeline's status at the git host. */
    hostContext: text("host_context"),
    supersede: text().$type<"file" | "refs" | "all" | "none">().notNull().default("file"),
    badgeGeneration: integer("badge_generation").notNull().default(0),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("pipeline_by_name").on(table.repoId, table.name),
    index("pipeline_by_org").on(table.orgId, table.id),
    index("pipeline_by_org_name").on(table.orgId, table.name, table.id),
  ],
);
