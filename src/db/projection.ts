import type { AuditEntry } from "../protocol/audit.ts";
import type { Build } from "../protocol/build.ts";

/** A build in one version of its pool. */
export interface Projected {
  record: Build;
  version: number;
}

/* Both statements may be repeated and reordered: an older version never replaces a newer one, and a row of the audit is
   written once. */

const BUILD = `INSERT INTO build (id, org_id, repo_id, pipeline_id, branch, status, pool_version, record, finished_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
  ON CONFLICT (id) DO UPDATE SET status = excluded.status, pool_version = excluded.pool_version,
    record = excluded.record, finished_at = excluded.finished_at
  WHERE build.pool_version < excluded.pool_version`;

const AUDIT = `INSERT OR IGNORE INTO audit (id, org_id, at, actor, action, subject, request_id, detail)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`;

export const projectBuild = (db: D1Database, { record, version }: Projected): D1PreparedStatement => {
  const { id, orgId, repoId, pipelineId, branch, status, finishedAt } = record;
  return db
    .prepare(BUILD)
    .bind(id, orgId, repoId, pipelineId, branch, status, version, JSON.stringify(record), finishedAt);
};

export const projectAudit = (db: D1Database, entry: AuditEntry): D1PreparedStatement => {
  const { id, orgId, at, actor, action, subject, requestId, detail } = entry;
  return db.prepare(AUDIT).bind(id, orgId, at, actor, action, subject, requestId, JSON.stringify(detail));
};

/** Whether D1 answers at all. */
export const isReachable = async (db: D1Database): Promise<boolean> => {
  try {
    await db.prepare("SELECT 1").run();
    return true;
  } catch {
    return false;
  }
};
