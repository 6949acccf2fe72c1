import { type SQL, sql } from "drizzle-orm";
import { ARCHIVED, type Archived, dayOf, dayOfKey, UNTIL_DAY } from "../../archive/keys.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { type Chore, toMinute, type Upkeep } from "./run.ts";

/** The number of objects on one page, as R2 lists and deletes them, and the number of pages for one kind in one run. */
const PAGE = 1000;
const PAGES = 20;

/** Deletes the objects whose keys begin with days before `day`, the oldest first. */
const removeBefore = async (archive: R2Bucket, kind: Archived | typeof UNTIL_DAY, day: string): Promise<number> => {
  let removed = 0;
  for (let page = 0; page < PAGES; page++) {
    const { objects, truncated } = await archive.list({ prefix: `${kind}/`, limit: PAGE });
    const old = objects.map(({ key }) => key).filter((key) => (dayOfKey(key) ?? day) < day);
    if (old.length > 0) await archive.delete(old);
    removed += old.length;
    if (!truncated || old.length < objects.length) break;
  }
  return removed;
};

export const removeArchived: Chore = async ({ env, now, buildsBefore }) => {
  const day = dayOf(buildsBefore);
  const removed = await Promise.all(ARCHIVED.map((kind) => removeBefore(env.ARCHIVE, kind, day)));
  const artifacts = await removeBefore(env.ARCHIVE, UNTIL_DAY, dayOf(now));
  return { archived: removed.reduce((sum, count) => sum + count, 0), artifacts };
};

/**
 * The number of rows in one statement, and the number of statements for one table in one run. 20,000 rows a minute are
 * 28 million a day.
 */
const SLICE = 1000;
const SLICES = 20;
const SERVICE_METRIC_MINUTES = 35 * 24 * 60;
const FAILURE_DAYS = 7;

/** Deletes the rows that a query finds by at most SLICE keys, slice by slice. @returns the number of deleted rows */
const deleteSlices = async ({ db }: Upkeep, table: string, key: string, old: SQL): Promise<number> => {
  const statement = sql`DELETE FROM ${sql.raw(table)} WHERE ${sql.raw(key)} IN (${old} LIMIT ${SLICE})`;
  let deleted = 0;
  for (let slice = 0; slice < SLICES; slice++) {
    const [{ meta }] = await db.run(db.statement(statement));
    deleted += meta.changes;
    if (meta.changes < SLICE) break;
  }
  return deleted;
};

export const removeBuilds: Chore = async (run) => {
  const before = run.buildsBefore;
  // Readers of test results never request older ones.
  const testsBefore = Math.max(before, run.now - PERIODS.flakyDays * DAY_MS);
  return {
    builds: await deleteSlices(
      run,
      "build_summary",
      "(org_id, id)",
      sql`SELECT org_id, id FROM build_summary WHERE finished_at < ${before} ORDER BY finished_at`,
    ),
    jobs: await deleteSlices(
      run,
      "job",
      "(org_id, id)",
      sql`SELECT org_id, id FROM job WHERE finished_at < ${before} ORDER BY finished_at`,
    ),
    tests: await deleteSlices(
      run,
      "test_result",
      "(org_id, job_id, test_id)",
      sql`SELECT org_id, job_id, test_id FROM test_result WHERE at < ${testsBefore} ORDER BY at`,
    ),
  };
};

/** Selects old audit rows. Walks from one organization to the next by the key, and reads only the old rows of each. */
const oldAudit = (before: number): SQL => sql`
  WITH RECURSIVE org (id) AS (
    SELECT min(org_id) FROM audit_log
    UNION ALL SELECT (SELECT min(org_id) FROM audit_log WHERE org_id > org.id) FROM org WHERE org.id IS NOT NULL
  )
  SELECT a.org_id, a.id FROM org CROSS JOIN audit_log a ON a.org_id = org.id AND a.id < ${firstIdAt(before)}`;

export const removeAudit: Chore = async (run) => ({
  audit: await deleteSlices(run, "audit_log", "(org_id, id)", oldAudit(run.auditBefore)),
});

export const removeUses: Chore = async (run) => {
  const before = dayOf(run.auditBefore);
  return {
    uses: await deleteSlices(
      run,
      "variable_day",
      "(variable_id, day)",
      sql`SELECT variable_id, day FROM variable_day WHERE day < ${before} ORDER BY day`,
    ),
  };
};

/**
 * Deletes ended sessions, old pushes of listed authors, old metrics, and failures of work that nobody retries any more.
 */
export const removeTraces: Chore = async (run) => {
  const { db, now } = run;
  const at = new Date(now).toISOString();
  const [sessions, pushes, metrics, failures] = await db.run(
    db.statement(sql`DELETE FROM ended_session WHERE until < ${at}`),
    db.statement(sql`DELETE FROM listed_push WHERE until < ${at}`),
    db.statement(sql`DELETE FROM service_metric WHERE minute < ${toMinute(now) - SERVICE_METRIC_MINUTES}`),
    db.statement(sql`DELETE FROM upkeep_failure WHERE kind <> 'turn' AND next_at < ${now - FAILURE_DAYS * DAY_MS}`),
  );
  return {
    sessions: sessions.meta.changes,
    pushes: pushes.meta.changes,
    metrics: metrics.meta.changes,
    failures: failures.meta.changes,
  };
};
