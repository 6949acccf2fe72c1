import { getTableColumns } from "drizzle-orm";
import type { AuditEntry } from "../protocol/audit.ts";
import { BUILD_FIELDS, type Build } from "../protocol/build.ts";
import { reader } from "./compiled.ts";
import { buildSummary } from "./schema.ts";

/*
 * Every statement may be repeated and reordered. An older version never replaces a newer one, and no audit row is
 * written twice.
 */

const FIELDS: Record<string, { of: string; changes?: true }> = {
  ...BUILD_FIELDS,
  poolVersion: { of: "facts", changes: true },
};
const COLUMNS = Object.entries(getTableColumns(buildSummary)).filter(([field]) => field in FIELDS);
const NAMES = COLUMNS.map(([, { name }]) => name);
const CHANGES = COLUMNS.filter(([field]) => FIELDS[field]?.changes);

const BUILD = `INSERT INTO build_summary (${NAMES}) VALUES (${NAMES.map((_, at) => `?${at + 1}`)})
  ON CONFLICT (org_id, id) DO UPDATE SET ${CHANGES.map(([, { name }]) => `${name} = excluded.${name}`)}
  WHERE build_summary.pool_version < excluded.pool_version`;

/* Upkeep deletes the rows of jobs on the day on which it deletes their build's row. */
const JOBS = `INSERT OR IGNORE INTO job (org_id, id, build_id, finished_at)
  SELECT ?1, value, ?2, ?3 FROM json_each(?4)`;

const AUDIT = `INSERT OR IGNORE INTO audit_log (id, org_id, at, actor, action, subject, request_id, detail)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`;

const FIRST_OF_DAY = `INSERT OR IGNORE INTO variable_day (variable_id, day, build_id, agent_id, at)
  SELECT id, substr(?3, 1, 10), ?4, ?5, ?3 FROM variable
  WHERE id IN (SELECT value FROM json_each(?1)) AND org_id = ?2`;

const LAST_USE = `UPDATE variable SET last_used_at = ?3, last_used_by = ?4
  WHERE id IN (SELECT value FROM json_each(?1)) AND org_id = ?2
  AND (last_used_at IS NULL OR substr(last_used_at, 1, 10) < substr(?3, 1, 10))`;

/*
 * `sequence` is the highest number that the pool ever reported, so it reveals a restored pool. `complete` keeps its
 * value if it precedes the pool's value (?5), so it reveals a restored D1.
 */
const POOL = `INSERT INTO pool (org_id, sequence, complete, active, at)
  VALUES (?1, ?2, CASE WHEN ?5 = 0 THEN ?2 ELSE 0 END, ?3, ?4)
  ON CONFLICT (org_id) DO UPDATE SET sequence = max(sequence, excluded.sequence),
    complete = CASE WHEN complete < ?5 THEN complete ELSE max(complete, excluded.sequence) END,
    active = excluded.active, at = excluded.at`;

export type BuildRow = typeof buildSummary.$inferSelect;

/** Reads the selected columns of builds. */
export const readBuildRow = reader(getTableColumns(buildSummary)) as (row: Record<string, unknown>) => BuildRow;

const toMilliseconds = (timestamp: string | null): number | null => (timestamp === null ? null : Date.parse(timestamp));

/** Builds the row of a build. The row includes the number of the build's jobs when the build ends. */
const toRow = (record: Build, poolVersion: number): BuildRow => ({
  ...record,
  createdBy: record.createdBy && { ...record.createdBy, ...(record.trust === "untrusted" && { trust: record.trust }) },
  pull: record.pull?.number ?? null,
  jobCounts: record.finishedAt === null ? null : record.jobCounts,
  queuedAt: Date.parse(record.queuedAt),
  startedAt: toMilliseconds(record.startedAt),
  finishedAt: toMilliseconds(record.finishedAt),
  poolVersion,
});

export const projectBuild = (db: D1Database, record: Build, version: number): D1PreparedStatement[] => {
  const { id, orgId, jobs } = record;
  const row: Record<string, unknown> = toRow(record, version);
  const values = COLUMNS.map(([field, column]) => (row[field] == null ? null : column.mapToDriverValue(row[field])));
  const finishedAt = toMilliseconds(record.finishedAt);
  return [
    db.prepare(BUILD).bind(...values),
    ...(jobs && finishedAt
      ? [db.prepare(JOBS).bind(orgId, id, finishedAt, JSON.stringify(jobs.map((job) => job.id)))]
      : []),
  ];
};

export const projectAudit = (db: D1Database, entry: AuditEntry): D1PreparedStatement => {
  const { id, orgId, at, actor, action, subject, requestId, detail } = entry;
  return db.prepare(AUDIT).bind(id, orgId, at, actor, action, subject, requestId, JSON.stringify(detail));
};

/** Records a hand-out of variables. The first hand-out of a variable on each day adds a row. */
export const projectUses = (
  db: D1Database,
  use: { orgId: string; buildId: string; agentId: string; at: string; variableIds: string[] },
): D1PreparedStatement[] => {
  const bindings = [JSON.stringify(use.variableIds), use.orgId, use.at, use.buildId];
  return [db.prepare(FIRST_OF_DAY).bind(...bindings, use.agentId), db.prepare(LAST_USE).bind(...bindings)];
};

/* Makes upkeep recount the other days of the pipeline. */
const FORGET_BAR = `UPDATE pipeline_history SET recounted_at = 0,
    builds = (SELECT json_group_array(json(value)) FROM json_each(builds) WHERE value ->> 'id' <> ?2)
  WHERE org_id = ?1
    AND pipeline_id IN (SELECT pipeline_id FROM build_summary WHERE org_id = ?1 AND id = ?2)`;

/** Deletes a build. Idempotent. */
export const eraseBuild = (
  db: D1Database,
  orgId: string,
  buildId: string,
  jobIds: readonly string[],
): D1PreparedStatement[] => [
  db.prepare(FORGET_BAR).bind(orgId, buildId),
  db.prepare("DELETE FROM build_summary WHERE org_id = ?1 AND id = ?2").bind(orgId, buildId),
  ...(jobIds.length === 0
    ? []
    : [
        db
          .prepare("DELETE FROM job WHERE org_id = ?1 AND id IN (SELECT value FROM json_each(?2))")
          .bind(orgId, JSON.stringify(jobIds)),
      ]),
  db
    .prepare("DELETE FROM test_result WHERE org_id = ?1 AND job_id IN (SELECT value FROM json_each(?2))")
    .bind(orgId, JSON.stringify([buildId, ...jobIds])),
];

/** Deletes the log line that lists show for a build. Idempotent. */
export const forgetFailedLine = (db: D1Database, orgId: string, buildId: string): D1PreparedStatement =>
  db
    .prepare("UPDATE build_summary SET failed_line = NULL WHERE org_id = ?1 AND id = ?2 AND failed_line IS NOT NULL")
    .bind(orgId, buildId);

/** Reads how much of the pool's sequence D1 has. */
export const readPool = (db: D1Database, orgId: string): D1PreparedStatement =>
  db.prepare("SELECT sequence, complete FROM pool WHERE org_id = ?1").bind(orgId);

/**
 * Reads the columns of `readPool` as numbers or nulls, with the limits that the operator set for the organization, as
 * JSON.
 */
export const readPoolAndLimits = (db: D1Database, orgId: string): D1PreparedStatement =>
  db
    .prepare(
      `SELECT sequence, complete, limits FROM (SELECT ?1 AS org_id) AS own
        LEFT JOIN pool ON pool.org_id = own.org_id LEFT JOIN organization ON organization.id = own.org_id`,
    )
    .bind(orgId);

export const projectPool = (
  db: D1Database,
  pool: { orgId: string; sequence: number; told: number; active: number; at: number },
): D1PreparedStatement => db.prepare(POOL).bind(pool.orgId, pool.sequence, pool.active, pool.at, pool.told);

/**
 * Moves connections on to the next generation of hooks. `names` are the names of the hooks that are no longer valid, as
 * `hookName` writes them.
 */
const projectHooks = (db: D1Database, orgId: string, names: string[]): D1PreparedStatement =>
  db
    .prepare(
      `UPDATE connection SET hook_generation = hook.generation + 1, version = version + 1
        FROM (SELECT substr(value, 6, 36) AS id, max(CAST(substr(value, 43) AS INTEGER)) AS generation
          FROM json_each(?2) WHERE value LIKE 'hook:%' GROUP BY 1) AS hook
        WHERE connection.org_id = ?1 AND connection.id = hook.id AND hook_generation <= hook.generation`,
    )
    .bind(orgId, JSON.stringify(names));

/**
 * Deletes tokens of the organization, by their ids or by the hashes of their secrets, and ends generations of hooks.
 */
export const projectRevocations = (db: D1Database, orgId: string, names: string[]): D1PreparedStatement[] =>
  names.length === 0
    ? []
    : [
        db
          .prepare(
            "DELETE FROM token WHERE org_id = ?1 AND (id IN (SELECT value FROM json_each(?2)) OR hash IN (SELECT value FROM json_each(?2)))",
          )
          .bind(orgId, JSON.stringify(names)),
        ...(names.some((name) => name.startsWith("hook:")) ? [projectHooks(db, orgId, names)] : []),
      ];
