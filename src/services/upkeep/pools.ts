import { sql } from "drizzle-orm";
import { poolName } from "../../domain/object-names.ts";
import type { PoolNumbers } from "../../domain/pool/numbers.ts";
import { isQuietTurn, SWEEP_BEGIN, type SweepPlace, sweepSlice } from "../../domain/sweep-order.ts";
import type { AgentPool } from "../../objects/agent-pool.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { isKept, minuteOf, type Run } from "./run.ts";

const SWEEP_MS = 10_000;
/** A pool that told D1 something so recently is busy although nothing is active: it has events to tell. */
const RECENT_MS = 3 * 60_000;

export interface Swept {
  /** Runs after which each busy pool was swept once. */
  rounds: number;
  failed: number;
  pools: { orgId: string; numbers: PoolNumbers }[];
}

/** The organizations whose pools are due, sorted: also quiet ones of the last day, whose alarm may have been given up. */
const duePools = async ({ db, now, failures }: Run, withQuiet: boolean) => {
  const since = now - (withQuiet ? DAY_MS : RECENT_MS);
  const [{ results: found }] = await db.run(
    db.statement<{
      orgId: string;
      isBusy: number;
    }>(sql`SELECT org_id AS orgId, active > 0 OR at > ${now - RECENT_MS} AS isBusy FROM pool
      WHERE (active > 0 OR at > ${since}) AND ${isKept(sql`pool.org_id`)} AND ${failures.isDue("sweep", sql`pool.org_id`)}
      ORDER BY org_id`),
  );
  const those = (isBusy: number) => found.filter((pool) => pool.isBusy === isBusy).map(({ orgId }) => orgId);
  return { busy: those(1), quiet: those(0) };
};

/** Ends what is overdue in the pools, and brings their numbers. */
export const sweepPools = async (run: Run): Promise<Swept> => {
  const { env, now, failures, turn } = run;
  const before: SweepPlace = turn.place ? JSON.parse(turn.place) : SWEEP_BEGIN;
  const minute = minuteOf(now);
  const { names, rounds, place } = sweepSlice(before, await duePools(run, isQuietTurn(before, minute)), minute);
  turn.place = JSON.stringify(place);
  const answers = await Promise.all(
    names.map((orgId) =>
      failures.attempt({ kind: "sweep", subject: orgId, orgId }, SWEEP_MS, async () => ({
        orgId,
        numbers: await (env.AGENT_POOL as DurableObjectNamespace<AgentPool>).getByName(poolName(orgId)).sweep(),
      })),
    ),
  );
  const swept = answers.filter((answer) => answer !== null);
  return { rounds, failed: answers.length - swept.length, pools: swept };
};
