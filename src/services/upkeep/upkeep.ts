import { sql } from "drizzle-orm";
import { lastDayPast } from "../../archive/keys.ts";
import { DatabaseSession } from "../../db/session.ts";
import { removeArchived } from "./archive-retention.ts";
import { removeUnusedCache } from "./cache-retention.ts";
import { moveAudit, moveBuilds, removeEarlierBuilds } from "./earlier.ts";
import { Failures } from "./failures.ts";
import { countHistories, recountHistories } from "./histories.ts";
import { writeNumbers } from "./numbers.ts";
import { sweepPools } from "./pools.ts";
import { reconcileBuilds } from "./reconcile.ts";
import { removeAudit, removeBuilds, removeTraces, removeUses } from "./retention.ts";
import type { Chore, Done } from "./run.ts";
import { runSchedules } from "./schedules.ts";

const DAY_MS = 86_400_000;
/** After so long a chore counts as failed, and the rest of the run does not wait for it. */
const CHORE_MS = 90_000;

const sweep: Chore = async (run) => {
  const swept = await sweepPools(run);
  await writeNumbers(run, swept);
  return { pools: swept.pools.length };
};

/** Each does its part in every run, whatever happens to the others. */
const CHORES: Record<string, Chore> = {
  runSchedules,
  sweep,
  reconcileBuilds,
  moveBuilds,
  moveAudit,
  countHistories,
  recountHistories,
  removeBuilds,
  removeEarlierBuilds,
  removeArchived,
  removeUnusedCache,
  removeAudit,
  removeUses,
  removeTraces,
};

const dueChores = async (db: DatabaseSession, now: number): Promise<[string, Chore][]> => {
  const [{ results: waiting }] = await db.run(
    db.statement<{ subject: string }>(
      sql`SELECT subject FROM upkeep_failure WHERE kind = 'chore' AND next_at > ${now}`,
    ),
  );
  return Object.entries(CHORES).filter(([name]) => !waiting.some(({ subject }) => subject === name));
};

/**
 * Runs every minute: builds what is scheduled, sweeps the pools, moves what the release before wrote, and removes what is older than its
 * retention. What fails is set aside, counted and tried again later. A run may be interrupted, repeated, and run twice
 * at once.
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
  const perform = async ([name, chore]: [string, Chore]): Promise<Done> => {
    const db = session();
    const failures = new Failures(db, now);
    const subject = { kind: "chore", subject: name, orgId: null } as const;
    const done = await failures.attempt(subject, CHORE_MS, () => chore({ env, db, failures, ...times }));
    await failures.save();
    return { ...done, failed: failures.count };
  };
  const chores = await dueChores(session(), now);
  const settled = await Promise.allSettled(chores.map(perform));
  const done = settled.map((result) => (result.status === "fulfilled" ? result.value : { failed: 1 }));
  const failed = done.reduce((sum, one) => sum + (one.failed ?? 0), 0);
  return Object.assign({}, ...done, { failed }) as Done;
};
