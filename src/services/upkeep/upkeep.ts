import { lastDayPast } from "../../archive/keys.ts";
import { DatabaseSession } from "../../db/session.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { countCaches } from "./cache-count.ts";
import { removeUnusedCache } from "./cache-retention.ts";
import { Failures } from "./failures.ts";
import { countHistories, recountHistories } from "./histories.ts";
import { writeNumbers } from "./numbers.ts";
import { sweepPools } from "./pools.ts";
import { reconcileBuilds } from "./reconcile.ts";
import { finishRemovals } from "./removals.ts";
import { removeArchived, removeAudit, removeBuilds, removeTraces, removeUses } from "./retention.ts";
import { countRows } from "./row-counts.ts";
import type { Chore, Done, Turn } from "./run.ts";
import { runSchedules } from "./schedules.ts";
import { endTurn, takeTurns } from "./turns.ts";

/** After so long a chore counts as failed, and the rest of the run does not wait for it. */
const CHORE_MS = 90_000;

const sweep: Chore = async (run) => {
  const swept = await sweepPools(run);
  await writeNumbers(run, swept);
  return { pools: swept.pools.length };
};

interface Scheduled {
  name: string;
  /** Minutes from one run of it to the next. */
  everyMinutes: number;
  chore: Chore;
}

/** Each does its part, whatever happens to the others. */
const CHORES: readonly Scheduled[] = [
  { name: "runSchedules", everyMinutes: 1, chore: runSchedules },
  { name: "sweep", everyMinutes: 1, chore: sweep },
  { name: "reconcileBuilds", everyMinutes: 60, chore: reconcileBuilds },
  { name: "countHistories", everyMinutes: 1, chore: countHistories },
  { name: "recountHistories", everyMinutes: 60, chore: recountHistories },
  { name: "removeBuilds", everyMinutes: 1, chore: removeBuilds },
  { name: "finishRemovals", everyMinutes: 1, chore: finishRemovals },
  // A list of R2 costs as much as a write.
  { name: "removeArchived", everyMinutes: 10, chore: removeArchived },
  { name: "removeUnusedCache", everyMinutes: 60, chore: removeUnusedCache },
  { name: "countCaches", everyMinutes: 24 * 60, chore: countCaches },
  { name: "removeAudit", everyMinutes: 1, chore: removeAudit },
  { name: "removeUses", everyMinutes: 1, chore: removeUses },
  { name: "removeTraces", everyMinutes: 1, chore: removeTraces },
  { name: "countRows", everyMinutes: 1440, chore: countRows },
];

/**
 * Runs every minute: builds what is scheduled, sweeps the pools, and removes what is older than its retention. What
 * fails is set aside, counted and tried again later. A run may be interrupted, repeated, late, and run twice at once.
 */
export const keepUp = async (
  env: Env,
  at: Date,
  retention: { buildDays: number; auditDays: number },
): Promise<Done> => {
  const now = at.getTime();
  // Each has a session of its own: calls of one session share a transaction, and so their failures.
  const session = () => new DatabaseSession(env.DB, "first-primary");
  const times = {
    now,
    buildsBefore: Date.parse(lastDayPast(now, retention.buildDays)) + DAY_MS,
    auditBefore: now - retention.auditDays * DAY_MS,
  };
  const perform = async (due: Scheduled & { turn: Turn }): Promise<Done> => {
    const { name, chore, everyMinutes, turn } = due;
    const db = session();
    const failures = new Failures(db, now);
    const { place } = turn;
    // One that failed is tried again after its period at the latest: its trouble is often that of everybody.
    const subject = { kind: "chore", subject: name, orgId: null, mostMinutes: everyMinutes } as const;
    const done = await failures.attempt(subject, CHORE_MS, () => chore({ env, db, failures, turn, ...times }));
    await failures.save();
    if (done && (everyMinutes > 1 || turn.place !== place)) await endTurn(db, now, due, turn);
    return { ...done, failed: failures.count };
  };
  const settled = await Promise.allSettled((await takeTurns(session(), now, CHORES)).map(perform));
  const done = settled.map((result) => (result.status === "fulfilled" ? result.value : { failed: 1 }));
  const failed = done.reduce((sum, one) => sum + (one.failed ?? 0), 0);
  return Object.assign({}, ...done, { failed }) as Done;
};
