import { asc, eq, gt } from "drizzle-orm";
import { organization } from "../../db/schema.ts";
import { log } from "../../log.ts";
import { PoolRestore, PoolRestored, Restore, Restored } from "../../protocol/operator.ts";
import { auditRow } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { invalid, notFound, Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";

/** The number of pools to call at the same time. */
const AT_ONCE = 10;

/** Returns the organizations of this batch, in the order of their slugs. @throws Refusal not-found */
const listOrganizations = async (context: Context, { orgId, after, limit }: typeof Restore._zod.output) => {
  const { sql } = context.db;
  const chosen = orgId ? eq(organization.id, orgId) : gt(organization.id, after ?? "");
  const ids = sql.select({ id: organization.id }).from(organization).where(chosen);
  const [rows] = await context.db.run(ids.orderBy(asc(organization.id)).limit(limit));
  if (orgId && rows.length === 0) throw notFound();
  return rows.map(({ id }) => id);
};

/**
 * Notifies the pools that an operator restored the pools or the database. An operator can repeat an interrupted call.
 */
export const reconcileRestored = verb({
  access: { operator: true },
  body: Restore,
  output: Restored,
  async run(context, { body }) {
    await context.admit();
    const orgIds = await listOrganizations(context, body);
    const done = { organizations: 0, ended: 0, lost: 0, told: 0, agentsRemoved: 0, failed: [] as string[] };
    const reconcileOne = async (orgId: string): Promise<void> => {
      try {
        const detail = { what: body.what };
        await context.db.run(auditRow(context, { action: "organization.restore", subject: orgId, orgId, detail }));
        const { ended, lost, told, agentsRemoved } = settled(await context.objects.pool(orgId).restored(body.what));
        done.organizations++;
        done.ended += ended;
        done.lost += lost;
        done.told += told;
        done.agentsRemoved += agentsRemoved;
      } catch (error) {
        log.error("pool.restore_failed", { orgId, error });
        done.failed.push(orgId);
      }
    };
    for (let from = 0; from < orgIds.length; from += AT_ONCE) {
      await Promise.all(orgIds.slice(from, from + AT_ONCE).map(reconcileOne));
    }
    const isLast = body.orgId || orgIds.length < body.limit;
    return { ...done, after: isLast ? null : (orgIds.at(-1) ?? null) };
  },
});

/**
 * Sets one pool back to an earlier time with Durable Objects' point-in-time recovery. The pool's next call reconciles
 * it.
 */
export const restorePool = verb({
  access: { operator: true },
  body: PoolRestore,
  output: PoolRestored,
  async run(context, { body: { orgId, at } }) {
    await context.admit();
    if (Date.parse(at) >= context.now.getTime()) throw invalid("/at", "must be in the past");
    await listOrganizations(context, { what: "pools", orgId, after: null, limit: 1 });
    const detail = { what: "pool", at };
    await context.db.run(auditRow(context, { action: "organization.restore", subject: orgId, orgId, detail }));
    const pool = context.objects.pool(orgId);
    const undo = await pool.restoreTo(Date.parse(at)).catch((error: unknown) => {
      throw new Refusal("conflict", "This pool cannot be restored to that time.", { cause: error });
    });
    await pool.restart().catch(() => undefined);
    return { orgId, undo };
  },
});
