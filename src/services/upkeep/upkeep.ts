import { and, isNotNull, sql } from "drizzle-orm";
import { lastDayPast } from "../../archive/keys.ts";
import { sharedDatabase } from "../../db/database-of.ts";
import { organization } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { addDay } from "../../queue/metrics/service-days.ts";
import {
  addDeadLetters,
  addTotals,
  gaugesOf,
  NO_TOTALS,
  type ServiceNumbers,
} from "../../queue/metrics/service-numbers.ts";
import { addStored } from "../../queue/metrics/service-store.ts";
import { removeShare } from "../organizations/organization-removal.ts";
import { countCaches } from "./cache-count.ts";
import { removeUnusedCache } from "./cache-retention.ts";
import { Failures } from "./failures.ts";
import { countHistories, recountHistories } from "./histories.ts";
import { reconcileBuilds, type Swept, sweepPools } from "./pools.ts";
import { removeArchived, removeAudit, removeBuilds, removeTraces, removeUses } from "./retention.ts";
import { countRows } from "./row-counts.ts";
import { type Chore, type Done, minuteOf, NOTHING, type Turn, type Upkeep } from "./run.ts";
import { runSchedules } from "./schedules.ts";
import { endTurn, takeTurns } from "./turns.ts";

/** Shorter than a chore may take: one that hangs is set aside by itself. */
const REMOVAL_MS = 60_000;

/**
 * Goes on with the removals that an operator began, a share of one organization in each run. One that fails or hangs is
 * set aside, and holds up no other.
 */
const finishRemovals: Chore = async ({ env, now, failures, turn }) => {
  const db = new DatabaseSession(sharedDatabase(env), "first-primary");
  const isLeaving = and(isNotNull(organization.deletingAt), failures.isDue("removal", sql`${organization.id}`));
  const [leaving] = await db.run(db.sql.select().from(organization).where(isLeaving).orderBy(organization.id));
  const next = leaving.find(({ id }) => id > turn.place) ?? leaving[0];
  if (!next) return NOTHING;
  const { id, deletingAt } = next;
  const subject = { kind: "removal", subject: id, orgId: id } as const;
  const share = await failures.attempt(subject, REMOVAL_MS, async () => ({
    left: await removeShare(env, { id, deletingAt: deletingAt ?? "" }, new Date(now)),
  }));
  if (share) console.log(JSON.stringify({ removal: share.left ?? { id, step: "done" } }));
  // Nothing names an organization that is gone.
  turn.place = leaving.length > 1 && share?.left !== null ? id : "";
  return { removals: 1 };
};

/** Another run may write its row first; then the numbers are added to that one. */
const TRIES = 5;

const NEWEST = sql`SELECT minute, facts FROM service_metric ORDER BY minute DESC LIMIT 1`;

/** Adds a row with the numbers of the pools and the size of the database. @throws Error where other runs were always first */
const writeNumbers = async (run: Upkeep, { rounds, failed, pools }: Swept): Promise<void> => {
  const { db, now } = run;
  for (let tries = 0; tries < TRIES; tries++) {
    const [{ results, meta }] = await db.run(db.statement<{ minute: number; facts: string }>(NEWEST));
    const [newest] = results;
    const before = newest && (JSON.parse(newest.facts) as ServiceNumbers);
    const numbers: ServiceNumbers = {
      at: now,
      rounds,
      gauges: gaugesOf(pools, failed),
      deadLetters: addDeadLetters(before?.deadLetters ?? {}, pools),
      today: addDay(before?.today, pools, now),
      stored: addStored(before?.stored ?? [], pools, now),
      totals: addTotals(before?.totals ?? NO_TOTALS, pools),
      databaseBytes: meta.size_after,
    };
    const last = newest?.minute ?? 0;
    const minute = Math.max(minuteOf(now), last + 1);
    const [{ meta: written }] = await db.run(
      db.statement(sql`INSERT INTO service_metric (minute, facts) SELECT ${minute}, ${JSON.stringify(numbers)}
        WHERE coalesce((SELECT max(minute) FROM service_metric), 0) = ${last}`),
    );
    if (written.changes > 0) return;
  }
  throw new Error("Other runs of upkeep wrote their numbers first.");
};

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
