import { eq, inArray, lt, sql } from "drizzle-orm";
import { Door } from "../db/open.ts";
import { audit, build, variableUse } from "../db/schema.ts";
import { buildLogName } from "../domain/log-name.ts";
import { poolName } from "../domain/pool/name.ts";

const DAY_MS = 86_400_000;
/** What one run takes on at most: the next one goes on. */
const BATCH = 200;

export interface UpkeepDone {
  pools: number;
  buildsRemoved: number;
  auditRemoved: number;
}

/**
 * What the clock does every minute: ends what is overdue in each pool that has work under way, and forgets builds,
 * logs and audit rows whose time is over. Each part may be repeated at any time.
 */
export const keepUp = async (
  env: Env,
  now: Date,
  retention: { buildDays: number; auditDays: number },
): Promise<UpkeepDone> => {
  const db = new Door(env.DB, "first-primary");
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS).toISOString();
  const underWay = sql`status IN ('queued', 'assigned', 'running', 'canceling')`;
  const [pools, old] = await db.run(
    db.sql.selectDistinct({ orgId: build.orgId }).from(build).where(underWay),
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
  const removeBuilds = old.map(({ id }) => db.sql.delete(build).where(eq(build.id, id)));
  const [removed] = await db.run(
    db.sql.delete(audit).where(inArray(audit.id, expired)).returning({ id: audit.id }),
    db.sql.delete(variableUse).where(sql`rowid IN (${oldUses})`),
    ...removeBuilds,
  );
  return { pools: pools.length, buildsRemoved: old.length, auditRemoved: removed.length };
};
