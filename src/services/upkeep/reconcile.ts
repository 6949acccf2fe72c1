import { sql } from "drizzle-orm";
import { poolName } from "../../domain/object-names.ts";
import { type Chore, minuteOf, NOTHING } from "./run.ts";

/** A build that is under way for so long is asked for, each so many minutes. */
const UNDER_WAY_MS = 60 * 60_000;
const EVERY_MINUTES = 15;
/** Builds of one run, those that were queued first, and pools that are asked about them. */
const ASKED = 5000;
const POOLS = 100;
const RECONCILE_MS = 30_000;

interface Reconciles {
  reconcile(buildIds: string[]): Promise<{ ok: boolean }>;
}

/** Asks the pools about builds that D1 calls under way for an hour: what a pool does not know has ended. */
export const reconcileBuilds: Chore = async ({ env, db, now, failures }) => {
  if (minuteOf(now) % EVERY_MINUTES !== 0) return NOTHING;
  const [{ results: found }] = await db.run(
    db.statement<{ orgId: string; id: string }>(sql`SELECT org_id AS orgId, id FROM build_summary
      WHERE finished_at IS NULL AND queued_at < ${now - UNDER_WAY_MS}
        AND ${failures.isDue("reconcile", sql`build_summary.org_id`)} ORDER BY queued_at LIMIT ${ASKED}`),
  );
  const byOrg = [...Map.groupBy(found, ({ orgId }) => orgId)].slice(0, POOLS);
  await Promise.all(
    byOrg.map(([orgId, builds]) =>
      failures.attempt({ kind: "reconcile", subject: orgId, orgId }, RECONCILE_MS, async () => {
        const pool = env.AGENT_POOL.getByName(poolName(orgId)) as unknown as Reconciles;
        const { ok } = await pool.reconcile(builds.map(({ id }) => id));
        if (!ok) throw new Error("The pool could not read the database.");
      }),
    ),
  );
  return { reconciled: found.length };
};
