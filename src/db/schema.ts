import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, sqliteView, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { OF_EVERY_BUILD } from "../protocol/audit.ts";
import type { Build, BuildEvent, BuildReason, Creator } from "../protocol/build.ts";
import { ACTIVE, type BuildStatus } from "../protocol/build-states.ts";
import type { LocationHint } from "../protocol/organization.ts";
import type { Requires } from "../protocol/pipeline.ts";
import type { CredentialKind } from "../protocol/repository.ts";
import type { Role } from "../protocol/token.ts";
import type { Scope } from "../protocol/variable.ts";

/* Times are ISO 8601 text, so that they sort and read alike everywhere. */

export const organization = sqliteTable("organization", {
  id: text().primaryKey(),
  name: text().notNull(),
  locationHint: text("location_hint").$type<LocationHint>(),
  createdAt: text("created_at").notNull(),
  /** Since when the organization is being deleted: its tokens and agents are refused. */
  deletingAt: text("deleting_at"),
});

/** Ids of organizations that were deleted: none is given again. */
export const formerOrganization = sqliteTable("former_organization", {
  id: text().primaryKey(),
  deletedAt: text("deleted_at").notNull(),
});

export const token = sqliteTable(
  "token",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    /** SHA-256 of the token, in hexadecimal digits. */
    hash: text().notNull().unique(),
    name: text().notNull(),
    kind: text({ enum: ["api", "registration"] }).notNull(),
    role: text().$type<Role>(),
    labels: text({ mode: "json" }).$type<string[]>(),
    expiresAt: text("expires_at"),
    lastUsedAt: text("last_used_at"),
    /** After a rotation: the previous hash, which stays valid until `previousUntil`. */
    previousHash: text("previous_hash").unique(),
    previousUntil: text("previous_until"),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
  },
  (table) => [
    index("token_by_org").on(table.orgId, table.id),
    index("token_by_name").on(table.orgId, table.name, table.id),
  ],
);

export const variable = sqliteTable(
  "variable",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    scope: text().$type<Scope>().notNull(),
    /** Id of the organization, group, repository or pipeline that has the variable. */
    ownerId: text("owner_id").notNull(),
    key: text().notNull(),
    /** The value of a plain variable. */
    value: text(),
    /** The sealed value of a secret. `sealedVersion`, the version in which it was sealed, is part of the seal's context. */
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
  },
  (table) => [
    uniqueIndex("variable_by_owner").on(table.orgId, table.scope, table.ownerId, table.key),
    index("variable_by_org").on(table.orgId, table.id),
    index("variable_by_key").on(table.orgId, table.key, table.id),
  ],
);

/** The first hand-out of a variable on each day (UTC). Has no rowid. */
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

/** Written by the release before, which kept a row for each hand-out. Goes with the release after this one. */
export const variableUse = sqliteTable(
  "variable_use",
  {
    variableId: text("variable_id").notNull(),
    buildId: text("build_id").notNull(),
    agentId: text("agent_id").notNull(),
    at: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.variableId, table.buildId, table.at] }),
    index("variable_use_by_time").on(table.at),
  ],
);

/** Dashboard sessions that ended before their cookie expired. */
export const endedSession = sqliteTable(
  "ended_session",
  {
    id: text().primaryKey(),
    /** When the cookie itself expires. */
    until: text().notNull(),
  },
  (table) => [index("ended_session_by_time").on(table.until)],
);

/** A known text sealed with each key of SECRETS_KEYS at its first use: a key that does not open its row is a wrong one. */
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
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("variable_group_by_name").on(table.orgId, table.name),
    index("variable_group_by_org").on(table.orgId, table.id),
  ],
);

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
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
    updatedAt: text("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("repository_by_host_id").on(table.orgId, table.cloneHost, table.gitHostRepoId),
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

/** The groups of a pipeline in their order: a later group overrides an earlier one. */
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

const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(", ");

/** SQLite uses the index of active builds only for a query that repeats this text. */
export const isActiveBuild = sql.raw(`status IN (${quoted(ACTIVE)})`);

/** What lists show of a build, and filter by. The pool writes it when the build is created and when it has ended. */
const BUILD_SUMMARY = {
  orgId: text("org_id").notNull(),
  id: text().notNull(),
  number: integer().notNull(),
  repoId: text("repo_id").notNull(),
  pipelineId: text("pipeline_id"),
  /** The whole name: `refs/heads/main`. */
  ref: text().notNull(),
  commitSha: text("commit_sha"),
  event: text().$type<BuildEvent>().notNull(),
  trigger: text().$type<Build["trigger"]>().notNull(),
  pullNumber: integer("pull_number"),
  author: text(),
  /** The first line of the commit's message, at most 200 characters. */
  subject: text(),
  priority: integer().notNull(),
  retryOf: text("retry_of"),
  createdBy: text("created_by", { mode: "json" }).$type<Creator>(),
  status: text().$type<BuildStatus>().notNull(),
  attempt: integer().notNull(),
  agentId: text("agent_id"),
  exitCode: integer("exit_code"),
  reason: text().$type<BuildReason>(),
  message: text(),
  /** The line of the log that says why the build failed, masked, at most 200 characters. */
  failedLine: text("failed_line"),
  /** Counts of tests, and of jobs where the build has several. */
  tests: text({ mode: "json" }).$type<Record<string, number>>(),
  jobs: text({ mode: "json" }).$type<Record<string, number>>(),
  leak: integer({ mode: "boolean" }).notNull(),
  /** Times of builds are milliseconds since 1970: a third of the bytes of a text. */
  queuedAt: integer("queued_at").notNull(),
  startedAt: integer("started_at"),
  finishedAt: integer("finished_at"),
  /** The pool's version of the build: a write of an older version changes nothing. */
  poolVersion: integer("pool_version").notNull(),
};

/**
 * The builds that this release wrote. Has no rowid: it is stored in the order of its key, and each index ends with the
 * key. Read `buildList`, which has the builds of the release before too.
 */
export const buildSummary = sqliteTable("build_summary", BUILD_SUMMARY, (table) => [
  primaryKey({ columns: [table.orgId, table.id] }),
  index("build_summary_by_repo").on(table.orgId, table.repoId, table.id),
  index("build_summary_by_pipeline").on(table.orgId, table.pipelineId, table.id),
  index("build_summary_by_ref").on(table.orgId, table.ref, table.id),
  index("build_summary_by_commit").on(table.orgId, table.commitSha, table.id).where(sql`commit_sha IS NOT NULL`),
  index("build_summary_by_end").on(table.finishedAt),
]);

/** The builds of the release before, with the columns of `buildSummary`. */
export const earlierBuild = sqliteView("earlier_build", BUILD_SUMMARY).existing();

/** All builds, those that the release before wrote included. */
export const buildList = sqliteView("build_list", BUILD_SUMMARY).existing();

/** Builds as the release before writes them. Upkeep moves the ended ones. Goes with the release after this one. */
export const build = sqliteTable(
  "build",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    repoId: text("repo_id").notNull(),
    pipelineId: text("pipeline_id"),
    branch: text().notNull(),
    status: text().notNull(),
    poolVersion: integer("pool_version").notNull(),
    record: text().notNull(),
    finishedAt: text("finished_at"),
  },
  (table) => [
    index("build_by_org").on(table.orgId, table.id),
    index("build_by_repo").on(table.orgId, table.repoId, table.id),
    index("build_by_pipeline").on(table.orgId, table.pipelineId, table.id),
    index("build_by_branch").on(table.orgId, table.branch, table.id),
    index("build_by_status").on(table.orgId, table.status, table.id),
    index("build_under_way").on(table.orgId).where(isActiveBuild),
    index("build_by_end").on(table.finishedAt),
  ],
);

/** One row for each job of a build with several jobs, written when the job ended: finds the job's build. */
export const job = sqliteTable(
  "job",
  {
    orgId: text("org_id").notNull(),
    id: text().notNull(),
    buildId: text("build_id").notNull(),
    finishedAt: integer("finished_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.orgId, table.id] }), index("job_by_end").on(table.finishedAt)],
);

/** What each pool told last. A sequence that is not the one that the pool remembers shows that one was restored. */
export const pool = sqliteTable("pool", {
  orgId: text("org_id").primaryKey(),
  sequence: integer().notNull(),
  /** Builds that had not ended. */
  active: integer().notNull(),
  /** Milliseconds since 1970. */
  at: integer().notNull(),
});

/** Numbers of the whole deployment for the people on call, one row a minute. */
export const serviceMetric = sqliteTable("service_metric", {
  /** Minutes since 1970. */
  minute: integer().primaryKey(),
  facts: text().notNull(),
});

/** What upkeep could not do, set aside so that it holds up nothing else, and tried again later. */
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

/**
 * Never holds a row. An INSERT of a failed precondition's name violates the check of that name, so D1 rolls the whole
 * batch back, and its error names the precondition (`db/guard.ts`).
 */
export const guard = sqliteTable("guard", { failed: text().notNull() }, (table) => [
  check("token_live", sql`${table.failed} <> 'token_live'`),
  check("unchanged", sql`${table.failed} <> 'unchanged'`),
  check("owner_exists", sql`${table.failed} <> 'owner_exists'`),
  check("unused", sql`${table.failed} <> 'unused'`),
  check("within_limit", sql`${table.failed} <> 'within_limit'`),
]);
