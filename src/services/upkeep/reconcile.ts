import { sql } from "drizzle-orm";
import { firstIdAt } from "../../domain/id-range.ts";
import { poolName } from "../../domain/object-names.ts";
import { HOUR_MS } from "../../protocol/units.ts";
import { type Chore, isKept } from "./run.ts";

/** A build that D1 calls active is asked for when it is an hour old, and each hour until it is two days old. */
const YOUNGEST_MS = HOUR_MS;
const OLDEST_MS = 49 * HOUR_MS;
/** Builds of one run, and pools that are asked about them. The next run goes on with the others. */
const ASKED = 5000;
const POOLS = 100;
const RECONCILE_MS = 30_000;

/**
 * Asks the pools about builds that D1 calls active: what a pool does not know has ended. A range of ids instead of an
 * index of active builds, which would cost two rows a build.
 */
export const reconcileBuilds: Chore = async ({ env, db, now, failures, turn }) => {
  const [{ results: found }] = await db.run(
    db.statement<{ orgId: string; id: string }>(sql`SELECT pool.org_id AS orgId, build_summary.id FROM pool
      CROSS JOIN build_summary ON build_summary.org_id = pool.org_id
        AND build_summary.id >= ${firstIdAt(now - OLDEST_MS)} AND build_summary.id < ${firstIdAt(now - YOUNGEST_MS)}
      WHERE finished_at IS NULL AND pool.org_id || '/' || build_summary.id > ${turn.place}
        AND ${isKept(sql`pool.org_id`)} AND ${failures.isDue("reconcile", sql`pool.org_id`)}
      ORDER BY pool.org_id || '/' || build_summary.id LIMIT ${ASKED}`),
  );
  const byOrg = [...Map.groupBy(found, ({ orgId }) => orgId)].slice(0, POOLS);
  const asked = byOrg.flatMap(([, builds]) => builds);
  turn.goesOn = asked.length < found.length || found.length === ASKED;
  const last = asked.at(-1);
  turn.place = turn.goesOn && last ? `${last.orgId}/${last.id}` : "";
  await Promise.all(
    byOrg.map(([orgId, builds]) =>
      failures.attempt({ kind: "reconcile", subject: orgId, orgId }, RECONCILE_MS, async () => {
        const pool = env.AGENT_POOL.getByName(poolName(orgId));
        const { ok } = await pool.reconcile(builds.map(({ id }) => id));
        if (!ok) throw new Error("The pool could not read the database.");
      }),
    ),
  );
  return { reconciled: asked.length };
};
