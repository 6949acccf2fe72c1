import { sql } from "drizzle-orm";
import { dayOf } from "../../archive/keys.ts";
import { type BuildRecord, putRecord } from "../../archive/records.ts";
import { buildLogName } from "../../domain/object-names.ts";
import type { BuildLog } from "../../objects/build-log.ts";
import type { Chore, Run } from "./run.ts";

/* Moves what the release before wrote to where this release reads it. Goes with the release after this one. */

/** Builds of one run: the record and the log of each are two subrequests. */
const MOVED = 150;
const PURGED = 120;
const AUDIT_SLICE = 1000;
const AUDIT_SLICES = 10;
const LOG_MS = 60_000;
/** After its end a build's log may still have to be closed by a pool of the release before. */
const SETTLED_MS = 10 * 60_000;

interface EarlierBuild {
  id: string;
  orgId: string;
  version: number;
  record: string;
  finishedAt: string;
}

const logOf = (env: Env, { orgId, id }: { orgId: string; id: string }) =>
  (env.BUILD_LOG as DurableObjectNamespace<BuildLog>).getByName(buildLogName(orgId, id));

const timeOf = (at: number): string => new Date(at).toISOString();

const archive = async (env: Env, earlier: EarlierBuild): Promise<void> => {
  const { id, orgId, finishedAt } = earlier;
  await putRecord(env.ARCHIVE, { ...(JSON.parse(earlier.record) as BuildRecord), id, orgId, finishedAt });
  await logOf(env, earlier).archive({ day: dayOf(Date.parse(finishedAt)), orgId, jobId: id });
};

/** Moves ended builds: the record and the log to the archive first, then the row, unless it changed meanwhile. */
export const moveBuilds: Chore = async ({ env, db, now, buildsBefore, failures }) => {
  const [{ results: found }] = await db.run(
    db.statement<EarlierBuild>(sql`SELECT id, org_id AS orgId, pool_version AS version, record, finished_at AS finishedAt
      FROM build WHERE finished_at >= ${timeOf(buildsBefore)} AND finished_at < ${timeOf(now - SETTLED_MS)}
        AND ${failures.isDue("move", sql`build.org_id || '/' || build.id`)}
      ORDER BY finished_at LIMIT ${MOVED}`),
  );
  const moved = await Promise.all(
    found.map((earlier) => {
      const { orgId, id, version } = earlier;
      const subject = { kind: "move", subject: `${orgId}/${id}`, orgId } as const;
      return failures.attempt(subject, LOG_MS, async () => {
        await archive(env, earlier);
        return [id, version];
      });
    }),
  );
  return {
    movedBuilds: await moveRows(
      db,
      moved.filter((row) => row !== null),
    ),
  };
};

const moveRows = async (db: Run["db"], rows: (string | number)[][]): Promise<number> => {
  if (rows.length === 0) return 0;
  const list = sql`(SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(rows)}))`;
  const [, { meta }] = await db.run(
    db.statement(
      sql`INSERT OR IGNORE INTO build_summary SELECT * FROM earlier_build WHERE (id, pool_version) IN ${list}`,
    ),
    db.statement(sql`DELETE FROM build WHERE (id, pool_version) IN ${list}`),
  );
  return meta.changes;
};

export const moveAudit: Chore = async ({ db, auditBefore }) => {
  const columns = sql.raw("org_id, id, at, actor, action, subject, request_id, detail");
  const slice = sql`SELECT id FROM audit WHERE at >= ${timeOf(auditBefore)} ORDER BY at, id LIMIT ${AUDIT_SLICE}`;
  let movedAudit = 0;
  for (let round = 0; round < AUDIT_SLICES; round++) {
    const [, { meta }] = await db.run(
      db.statement(
        sql`INSERT OR IGNORE INTO audit_log (${columns}) SELECT ${columns} FROM audit WHERE id IN (${slice})`,
      ),
      db.statement(sql`DELETE FROM audit WHERE id IN (${slice})`),
    );
    movedAudit += meta.changes;
    if (meta.changes < AUDIT_SLICE) break;
  }
  return { movedAudit };
};

/** Removes builds that are past their retention and were never moved, with the objects of their logs. */
export const removeEarlierBuilds: Chore = async ({ env, db, buildsBefore, failures }) => {
  const [{ results: old }] = await db.run(
    db.statement<{ id: string; orgId: string }>(sql`SELECT id, org_id AS orgId FROM build
      WHERE finished_at < ${timeOf(buildsBefore)} AND ${failures.isDue("purge", sql`build.org_id || '/' || build.id`)}
      ORDER BY finished_at LIMIT ${PURGED}`),
  );
  const purged = await Promise.all(
    old.map(({ orgId, id }) =>
      failures.attempt({ kind: "purge", subject: `${orgId}/${id}`, orgId }, LOG_MS, async () => {
        await logOf(env, { orgId, id }).purge();
        return id;
      }),
    ),
  );
  const ids = JSON.stringify(purged.filter((id) => id !== null));
  const [{ meta }] = await db.run(
    db.statement(sql`DELETE FROM build WHERE id IN (SELECT value FROM json_each(${ids}))`),
  );
  return { earlierBuilds: meta.changes };
};
