/** How many rows of each kind to write. All of them are of one organization, a thousand a day, the newest on `until`. */
export interface OldRows {
  orgId: string;
  /** Milliseconds since 1970: the time of the newest row. */
  until: number;
  builds?: number;
  earlierBuilds?: number;
  audit?: number;
  earlierAudit?: number;
  uses?: number;
  earlierUses?: number;
}

const MS_A_ROW = 86_400;

/** `n` from 0, with the time `ms` and an id that begins with it, as UUIDs of version 7 do. */
const series = (count: number, until: number): string => `WITH RECURSIVE series (n, ms) AS (
    SELECT 0, ${until} UNION ALL SELECT n + 1, ms - ${MS_A_ROW} FROM series WHERE n + 1 < ${count}
  ), named AS (
    SELECT n, ms, strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch') AS at,
      substr(printf('%012x', ms), 1, 8) || '-' || substr(printf('%012x', ms), 9) || printf('-7%03x-8000-%012x', n % 4096, n) AS id
    FROM series
  )`;

const RECORD = `json_object('id', id, 'number', n, 'commitSha', NULL, 'trigger', 'api', 'priority', 0, 'attempt', 1,
  'status', 'succeeded', 'leak', json('false'), 'steps', json('[]'), 'queuedAt', at, 'startedAt', at, 'finishedAt', at)`;

/** Writes rows of this release and of the one before. @returns the ids of the builds of the release before */
export const writeOldRows = async (db: D1Database, rows: OldRows): Promise<string[]> => {
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
    "build (id, org_id, repo_id, branch, status, pool_version, record, finished_at)",
    `replace(id, '-8000-', '-9000-'), '${orgId}', 'repo', 'main', 'succeeded', 1, ${RECORD}, at`,
    rows.earlierBuilds,
  );
  const entry = `id, '${orgId}', at, 'token:t', 'variable.update', 'v' || n % 50, NULL, '{}'`;
  const columns = "(id, org_id, at, actor, action, subject, request_id, detail)";
  await insert(`audit_log ${columns}`, entry, rows.audit);
  await insert(`audit ${columns}`, entry, rows.earlierAudit);
  await insert("variable_day", `'v' || n, substr(at, 1, 10), id, 'agent', at`, rows.uses);
  await insert("variable_use", `'v' || n, id, 'agent', at`, rows.earlierUses);
  const { results } = await db.prepare("SELECT id FROM build WHERE org_id = ?").bind(orgId).all<{ id: string }>();
  return results.map(({ id }) => id);
};
