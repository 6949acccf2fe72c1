import { sql } from "drizzle-orm";
import { isActiveBuild } from "../../db/schema.ts";
import { poolName } from "../../domain/object-names.ts";
import type { PoolNumbers } from "../../domain/pool/numbers.ts";
import type { AgentPool } from "../../objects/agent-pool.ts";
import { isKept, minuteOf, type Run } from "./run.ts";

/** Pools of one run; where there are more, the runs take turns. */
const SWEPT = 250;
const SWEEP_MS = 10_000;
/** A pool that told D1 something so recently is swept although nothing is active: it has events to tell. */
const RECENT_MS = 3 * 60_000;
/** Each so many minutes also every pool that told D1 something within a day: its alarm may have been given up. */
const ALL_MINUTES = 15;
const DAY_MS = 86_400_000;

export interface Swept {
  /** Runs after which each pool was swept once. */
  rounds: number;
  failed: number;
  pools: { orgId: string; numbers: PoolNumbers }[];
}

const duePools = async ({ db, now, failures }: Run): Promise<string[]> => {
  const since = now - (minuteOf(now) % ALL_MINUTES === 0 ? DAY_MS : RECENT_MS);
  const [{ results: found }] = await db.run(
    db.statement<{ orgId: string }>(sql`SELECT org_id AS orgId FROM (
        SELECT org_id FROM pool WHERE active > 0 OR at > ${since}
        UNION SELECT org_id FROM build WHERE ${isActiveBuild}
      ) due WHERE ${isKept(sql`due.org_id`)} AND ${failures.isDue("sweep", sql`due.org_id`)} ORDER BY org_id`),
  );
  return found.map(({ orgId }) => orgId);
};

/** Ends what is overdue in the pools, and brings their numbers. */
export const sweepPools = async (run: Run): Promise<Swept> => {
  const { env, now, failures } = run;
  const due = await duePools(run);
  const rounds = Math.max(1, Math.ceil(due.length / SWEPT));
  const begin = (minuteOf(now) % rounds) * SWEPT;
  const answers = await Promise.all(
    due.slice(begin, begin + SWEPT).map((orgId) =>
      failures.attempt({ kind: "sweep", subject: orgId, orgId }, SWEEP_MS, async () => ({
        orgId,
        numbers: await (env.AGENT_POOL as DurableObjectNamespace<AgentPool>).getByName(poolName(orgId)).sweep(),
      })),
    ),
  );
  const swept = answers.filter((answer) => answer !== null);
  // A pool that still runs the release before answers nothing.
  return { rounds, failed: answers.length - swept.length, pools: swept.filter(({ numbers }) => numbers !== undefined) };
};
