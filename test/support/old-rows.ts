/** How many rows of each kind to write. All belong to one organization, a thousand a day, the newest on `until`. */
export interface OldRows {
  orgId: string;
  /** Milliseconds since 1970: the time of the newest row. */
  until: number;
  builds?: number;
  audit?: number;
  uses?: number;
}

const MS_A_ROW = 86_400;

/** Generates `n` from 0, with the time `ms` and an id that begins with it, as UUIDs of version 7 do. */
const series = (count: number, until: number): string => `WITH RECURSIVE series (n, ms) AS (
    SELECT 0, ${until} UNION ALL SELECT n + 1, ms - ${MS_A_ROW} FROM series WHERE n + 1 < ${count}
  ), named AS (
    SELECT n, ms, strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch') AS at,
      substr(printf('%012x', ms), 1, 8) || '-' || substr(printf('%012x', ms), 9) || printf('-7%03x-8000-%012x', n % 4096, n) AS id
    FROM series
  )`;

/** Writes rows for retention. */
export const writeOldRows = async (db: D1Database, rows: OldRows): Promise<void> => {
  const { orgId, until } = rows;
  const insert = async (into: string, columns: string, count = 0) => {
    if (count > 0) await db.prepare(`${series(count, until)} INSERT INTO ${into} SELECT ${columns} FROM named`).run();
  };
  await insert(
    "build_summary (org_id, id, number, repo_id, ref, event, trigger, priority, status, attempt, leak, queued_at, finished_at, pool_version)",
    `'${orgId}', id, n, 'repo', 'refs/heads/main', 'api', 'api', 0, 'succeeded', 1, 0, ms, ms, 1`,
    rows.builds,
  );
  await insert(
    "audit_log (id, org_id, at, actor, action, subject, request_id, detail)",
    `id, '${orgId}', at, 'token:t', 'variable.update', 'v' || n % 50, NULL, '{}'`,
    rows.audit,
  );
  await insert("variable_day", `'v' || n, substr(at, 1, 10), id, 'agent', at`, rows.uses);
};
