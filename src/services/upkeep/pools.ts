import { sql } from "drizzle-orm";
import { firstIdAt } from "../../domain/id-range.ts";
import { isQuietTurn, SWEEP_BEGIN, type SweepPlace, sweepSlice } from "../../domain/sweep-order.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../protocol/units.ts";
import type { PoolNumbers } from "../../queue/state/numbers.ts";
import { ObjectStubs } from "../core/object-stubs.ts";
import { type Chore, isKept, toMinute, type Upkeep } from "./run.ts";

const SWEEP_MS = 10_000;
/**
 * Milliseconds for which a pool counts as busy after it notified D1, even if nothing is active, because it has events
 * to send.
 */
const RECENT_MS = 3 * MINUTE_MS;

export interface Swept {
  /** The number of runs in which upkeep sweeps each busy pool once. */
  rounds: number;
  failed: number;
  pools: { orgId: string; numbers: PoolNumbers }[];
}

/**
 * Returns the organizations whose pools are due, sorted. They include pools of the last day that are quiet, because the
 * platform may have given up their alarms.
 */
const duePools = async ({ db, now, failures }: Upkeep, withQuiet: boolean) => {
  const since = now - (withQuiet ? DAY_MS : RECENT_MS);
  const [{ results: rows }] = await db.run(
    db.statement<{
      orgId: string;
      isBusy: number;
    }>(sql`SELECT org_id AS orgId, active > 0 OR at > ${now - RECENT_MS} AS isBusy FROM pool
      WHERE (active > 0 OR at > ${since}) AND ${isKept(sql`pool.org_id`)} AND ${failures.isDue("sweep", sql`pool.org_id`)}
      ORDER BY org_id`),
  );
  const those = (isBusy: number) => rows.filter((pool) => pool.isBusy === isBusy).map(({ orgId }) => orgId);
  return { busy: those(1), quiet: those(0) };
};

/** Ends overdue work in the pools, and collects their numbers. */
export const sweepPools = async (run: Upkeep): Promise<Swept> => {
  const { env, now, failures, turn } = run;
  const objects = new ObjectStubs(env);
  const before: SweepPlace = turn.place ? JSON.parse(turn.place) : SWEEP_BEGIN;
  const minute = toMinute(now);
  const { names, rounds, place } = sweepSlice(before, await duePools(run, isQuietTurn(before, minute)), minute);
  turn.place = JSON.stringify(place);
  const answers = await Promise.all(
    names.map((orgId) =>
      failures.attempt({ kind: "sweep", subject: orgId, orgId }, SWEEP_MS, async () => ({
        orgId,
        numbers: await objects.pool(orgId).sweep(),
      })),
    ),
  );
  return { rounds, failed: failures.count, pools: answers.filter((answer) => answer !== null) };
};

/**
 * If D1 calls a build active, upkeep checks the build when it is an hour old, and each hour until it is two days old.
 */
const YOUNGEST_MS = HOUR_MS;
const OLDEST_MS = 49 * HOUR_MS;
/**
 * The number of builds in one run, and the number of pools to query about them. The next run continues with the others.
 */
const ASKED = 5000;
const POOLS = 100;
const RECONCILE_MS = 30_000;

/**
 * Queries the pools about builds that D1 calls active. If a build's pool does not know the build, the build has ended.
 * The chore uses a range of ids, because an index of active builds would cost two rows for each build.
 */
export const reconcileBuilds: Chore = async ({ env, db, now, failures, turn }) => {
  const [{ results: rows }] = await db.run(
    db.statement<{ orgId: string; id: string }>(sql`SELECT pool.org_id AS orgId, build_summary.id FROM pool
      CROSS JOIN build_summary ON build_summary.org_id = pool.org_id
        AND build_summary.id >= ${firstIdAt(now - OLDEST_MS)} AND build_summary.id < ${firstIdAt(now - YOUNGEST_MS)}
      WHERE finished_at IS NULL AND pool.org_id || '/' || build_summary.id > ${turn.place}
        AND ${isKept(sql`pool.org_id`)} AND ${failures.isDue("reconcile", sql`pool.org_id`)}
      ORDER BY pool.org_id || '/' || build_summary.id LIMIT ${ASKED}`),
  );
  const byOrg = [...Map.groupBy(rows, ({ orgId }) => orgId)].slice(0, POOLS);
  const chosen = byOrg.flatMap(([, builds]) => builds);
  turn.goesOn = chosen.length < rows.length || rows.length === ASKED;
  const last = chosen.at(-1);
  turn.place = turn.goesOn && last ? `${last.orgId}/${last.id}` : "";
  const objects = new ObjectStubs(env);
  await Promise.all(
    byOrg.map(([orgId, builds]) =>
      failures.attempt({ kind: "reconcile", subject: orgId, orgId }, RECONCILE_MS, async () => {
        const { ok } = await objects.pool(orgId).reconcile(builds.map(({ id }) => id));
        if (!ok) throw new Error("The pool could not read the database.");
      }),
    ),
  );
  return { reconciled: chosen.length };
};
