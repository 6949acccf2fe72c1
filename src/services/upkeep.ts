import { inArray, lt, sql } from "drizzle-orm";
import { audit, build, endedSession, isActiveBuild, variableUse } from "../db/schema.ts";
import { DatabaseSession } from "../db/session.ts";
import { buildLogName, poolName } from "../domain/object-names.ts";

const DAY_MS = 86_400_000;
/** Rows that one run removes from a table, so that it stays below the 1,000 subrequests of a Worker: 720,000 a day. */
const BATCH = 500;

export interface UpkeepDone {
  pools: number;
  buildsRemoved: number;
  auditRemoved: number;
}

/**
 * Runs every minute: sweeps the pools that have active builds, and removes builds, logs and audit rows that are older
 * than their retention. A run that is interrupted or repeated does no harm.
 */
export const keepUp = async (
  env: Env,
  now: Date,
  retention: { buildDays: number; auditDays: number },
): Promise<UpkeepDone> => {
  const db = new DatabaseSession(env.DB, "first-primary");
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS).toISOString();
  const [pools, old] = await db.run(
    db.sql.selectDistinct({ orgId: build.orgId }).from(build).where(isActiveBuild),
    db.sql
      .select({ id: build.id, orgId: build.orgId })
      .from(build)
      .where(lt(build.finishedAt, before(retention.buildDays)))
      .limit(BATCH),
  );
  await Promise.all(pools.map(({ orgId }) => env.AGENT_POOL.getByName(poolName(orgId)).sweep()));
  await Promise.all(old.map(({ orgId, id }) => env.BUILD_LOG.getByName(buildLogName(orgId, id)).purge()));
  const expired = db.sql
    .select({ id: audit.id })
    .from(audit)
    .where(lt(audit.at, before(retention.auditDays)))
    .limit(BATCH);
  const oldUses = sql`SELECT rowid FROM variable_use WHERE at < ${before(retention.auditDays)} LIMIT ${BATCH}`;
  const purged = JSON.stringify(old.map(({ id }) => id));
  const [removed] = await db.run(
    db.sql.delete(audit).where(inArray(audit.id, expired)).returning({ id: audit.id }),
    db.sql.delete(variableUse).where(sql`rowid IN (${oldUses})`),
    db.sql.delete(endedSession).where(lt(endedSession.until, now.toISOString())),
    db.sql.delete(build).where(sql`id IN (SELECT value FROM json_each(${purged}))`),
  );
  return { pools: pools.length, buildsRemoved: old.length, auditRemoved: removed.length };
};
