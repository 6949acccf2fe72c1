import { eq, inArray, sql } from "drizzle-orm";
import { deleteOrganizationFrom } from "../../archive/organization.ts";
import { databaseOf, sharedDatabase } from "../../db/database-of.ts";
import { deleteRows, OWNED } from "../../db/organization-rows.ts";
import { buildSummary, formerOrganization, job, organization, token } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import type { OrganizationRemoval } from "../../protocol/organization.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { type OrganizationHolders, removeConnections } from "../connections/connection-removal.ts";
import type { Context } from "../core/context.ts";
import { Keys } from "../core/keys.ts";
import { ObjectStubs } from "../core/object-stubs.ts";
import { reaching } from "../core/outage.ts";
import { notFound } from "../core/refusal.ts";

/**
 * Milliseconds after which every request, hand-out and delivery that began before the removal of the tokens has ended.
 */
const SETTLE_MS = MINUTE_MS;
/**
 * One call's share of each kind of work. Together, the shares stay below the number of subrequests that a Worker may
 * make.
 */
const LOGS_AT_ONCE = 100;
const LOGS = 500;
const ARCHIVED_OBJECTS = 20_000;
const ROWS_AT_ONCE = 2000;
const ROWS = 40_000;

interface Leaving {
  id: string;
  deletingAt: string;
}

type Left = OrganizationRemoval | null;

const purgeLogs = ({ orgId, objects }: OrganizationHolders, ids: string[]): Promise<unknown> =>
  Promise.all(ids.map((id) => objects.log(orgId, id).purge()));

/** Purges the logs of the builds that the pool knows, then deletes the pool. @returns how many logs were purged */
const removePool = async (holders: OrganizationHolders): Promise<number> => {
  const pool = holders.objects.pool(holders.orgId);
  let purged = 0;
  let ids = await pool.forgetBuilds([], LOGS_AT_ONCE);
  while (ids.length > 0 && purged < LOGS) {
    await purgeLogs(holders, ids);
    purged += ids.length;
    ids = await pool.forgetBuilds(ids, LOGS_AT_ONCE);
  }
  if (ids.length === 0) await pool.destroy();
  return purged;
};

/**
 * Purges the logs of the builds and jobs that D1 knows, and then deletes their rows.
 * @returns how many rows it deleted
 */
const removeBuilds = async (holders: OrganizationHolders, limit: number): Promise<number> => {
  const { db, orgId } = holders;
  let purged = 0;
  while (purged < limit) {
    const [builds, jobs] = await db.run(
      db.sql
        .select({ id: buildSummary.id })
        .from(buildSummary)
        .where(eq(buildSummary.orgId, orgId))
        .limit(LOGS_AT_ONCE),
      db.sql.select({ id: job.id }).from(job).where(eq(job.orgId, orgId)).limit(LOGS_AT_ONCE),
    );
    const ids = [...new Set([...builds, ...jobs].map(({ id }) => id))];
    if (ids.length === 0) break;
    await purgeLogs(holders, ids);
    const these = sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`;
    await db.run(
      ...[buildSummary, job].map((table) =>
        db.sql.delete(table).where(sql`${eq(table.orgId, orgId)} AND ${inArray(table.id, these)}`),
      ),
    );
    purged += ids.length;
  }
  return purged;
};

/**
 * Deletes the organization's rows, table by table.
 * @returns how many rows it deleted; a count of `ROWS` means that some are left
 */
const removeRows = async ({ db, orgId }: OrganizationHolders): Promise<number> => {
  let removed = 0;
  for (const owned of OWNED) {
    for (let last = ROWS_AT_ONCE; last === ROWS_AT_ONCE; ) {
      if (removed >= ROWS) return removed;
      const [rows] = await db.run(deleteRows(db.sql, owned, orgId, ROWS_AT_ONCE));
      last = rows.length;
      removed += last;
    }
  }
  return removed;
};

/**
 * Deletes one share of an organization. Deletes objects first, because only D1's rows name them, and the organization's
 * own row last. An interruption at any point does no harm, because a repeated call continues.
 * @returns the current step; null if nothing is left
 */
export const removeShare = async (env: Env, { id, deletingAt }: Leaving, now: Date): Promise<Left> => {
  const at = (step: OrganizationRemoval["step"], removed: number): Left => ({ id, deletingAt, step, removed });
  const db = new DatabaseSession(databaseOf(env, id), "first-primary");
  const holders: OrganizationHolders = { orgId: id, db, objects: new ObjectStubs(env), keys: new Keys(env, db) };
  await holders.objects.pool(id).close();
  if (now.getTime() - Date.parse(deletingAt) < SETTLE_MS) return at("closing", 0);
  const ofPool = await removePool(holders);
  const logs = ofPool + (await removeBuilds(holders, LOGS - ofPool));
  if (logs >= LOGS) return at("builds", logs);
  const objects = await reaching(deleteOrganizationFrom(env.ARCHIVE, id, ARCHIVED_OBJECTS));
  if (objects >= ARCHIVED_OBJECTS) return at("archive", objects);
  const connections = await removeConnections(holders);
  if (!connections.isDone) return at("rows", connections.removed);
  const rows = await removeRows(holders);
  if (rows >= ROWS) return at("rows", rows);
  const shared = new DatabaseSession(sharedDatabase(env), "first-primary");
  await shared.run(
    shared.sql.insert(formerOrganization).values({ id, deletedAt: now.toISOString() }).onConflictDoNothing(),
    shared.sql.delete(organization).where(eq(organization.id, id)),
  );
  return null;
};

/**
 * Deletes an organization and all its data, one share in each call. The first call deletes its tokens and rejects its
 * agents.
 * @returns the current step; null if nothing is left
 * @throws Refusal not-found
 */
export const removeOrganization = async (context: Context, env: Env, id: string): Promise<Left> => {
  const { sql: db } = context.db;
  const isThis = eq(organization.id, id);
  const [[row], [former]] = await context.db.run(
    db.select().from(organization).where(isThis),
    db.select().from(formerOrganization).where(eq(formerOrganization.id, id)),
  );
  if (!row && former) return null;
  if (!row) throw notFound();
  const deletingAt = row.deletingAt ?? context.at;
  if (!row.deletingAt) {
    await context.db.run(
      db.update(organization).set({ deletingAt }).where(isThis),
      db.delete(token).where(eq(token.orgId, id)),
    );
  }
  return removeShare(env, { id, deletingAt }, context.now);
};
