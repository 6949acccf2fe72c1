import { and, isNotNull, sql } from "drizzle-orm";
import { lastDayPast } from "../../archive/keys.ts";
import { sharedDatabase } from "../../db/database-of.ts";
import { organization } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import { log } from "../../log.ts";
import { DAY_MS, MINUTE_MS } from "../../protocol/units.ts";
import {
  addDay,
  addDeadLetters,
  addStored,
  addTotals,
  NO_TOTALS,
  type ServiceNumbers,
  toGauges,
} from "../../queue/metrics/service-numbers.ts";
import { removeShare } from "../organizations/organization-removal.ts";
import { countCaches, removeUnusedCache } from "./caches.ts";
import { countHistories, recountHistories } from "./histories.ts";
import { reconcileBuilds, type Swept, sweepPools } from "./pools.ts";
import { removeArchived, removeAudit, removeBuilds, removeTraces, removeUses } from "./retention.ts";
import { countRows } from "./row-counts.ts";
import { type Chore, type Done, Failures, NOTHING, type Turn, toMinute, type Upkeep } from "./run.ts";
import { runSchedules } from "./schedules.ts";

/**
 * Milliseconds for which a run claims a chore. This is longer than a chore may take. If a chore was killed with its
 * run, it restarts after this time.
 */
const CLAIM_MS = 2 * MINUTE_MS;

/** A chore by name, with the minutes between its runs. */
interface Timed {
  name: string;
  everyMinutes: number;
}

/** The error of a database without a free page. Such a database still reads and deletes. */
const FULL = /Exceeded maximum DB size|exceeded D1's maximum account storage/;
const isFull = (error: unknown): boolean => error instanceof Error && FULL.test(error.message);

const isPeriodic = ({ everyMinutes }: Timed): boolean => everyMinutes > 1;

/**
 * Claims the turns of the due chores. A turn depends on the chore's last run instead of the minute of the hour. A late
 * or missing cron therefore makes no chore miss its turn, and only one of two simultaneous runs gets the turn. A chore
 * of every run needs no turn. It runs even if the database is too full to store a turn. Otherwise nothing would delete
 * the rows that fill the database.
 */
const takeTurns = async <C extends Timed>(
  db: DatabaseSession,
  now: number,
  chores: readonly C[],
): Promise<(C & { turn: Turn })[]> => {
  const periodic = JSON.stringify(chores.filter(isPeriodic).map(({ name }) => name));
  const claim = db.statement<{ subject: string }>(
    sql`INSERT INTO upkeep_failure (kind, subject, org_id, tries, next_at, reason)
      SELECT 'turn', value, NULL, 0, ${now + CLAIM_MS}, '' FROM json_each(${periodic}) WHERE true
      ON CONFLICT (kind, subject) DO UPDATE SET next_at = excluded.next_at WHERE upkeep_failure.next_at <= ${now}
      RETURNING subject`,
  );
  const turnRows = db.statement<{ kind: string; subject: string; place: string }>(
    sql`SELECT kind, subject, reason AS place FROM upkeep_failure
      WHERE kind = 'turn' OR (kind = 'chore' AND next_at > ${now})`,
  );
  const [rows, claimed] = await db.run(turnRows, claim).catch(async (error) => {
    if (!isFull(error)) throw error;
    return [...(await db.run(turnRows)), { results: [] }] as const;
  });
  const has = (kind: string, name: string) => rows.results.find((row) => row.kind === kind && row.subject === name);
  const isDue = (chore: C) =>
    (!isPeriodic(chore) || claimed.results.some(({ subject }) => subject === chore.name)) && !has("chore", chore.name);
  return chores
    .filter(isDue)
    .map((chore) => ({ ...chore, turn: { place: has("turn", chore.name)?.place ?? "", goesOn: false } }));
};

/** Stores that a chore completed its turn, and where it continues. An unfinished chore continues in the next run. */
export const endTurn = async (
  db: DatabaseSession,
  now: number,
  { name, everyMinutes }: Timed,
  { place, goesOn }: Turn,
): Promise<void> => {
  const nextAt = (toMinute(now) + (goesOn ? 1 : everyMinutes)) * MINUTE_MS;
  await db.run(
    db.statement(sql`INSERT INTO upkeep_failure (kind, subject, org_id, tries, next_at, reason)
      VALUES ('turn', ${name}, NULL, 0, ${nextAt}, ${place})
      ON CONFLICT (kind, subject) DO UPDATE SET next_at = excluded.next_at, reason = excluded.reason`),
  );
};

/**
 * Milliseconds for one removal. This is shorter than a chore may take, so that upkeep sets aside only the removal that
 * hangs.
 */
const REMOVAL_MS = MINUTE_MS;

/**
 * Continues the removals that an operator began, one organization's share in each run. Sets aside a removal that fails
 * or hangs, so that it blocks no other.
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
  if (share) {
    const { step, removed } = share.left ?? { step: "done", removed: 0 };
    log.info("organization.removal_continued", { orgId: id, step, removed });
  }
  // The chore's state never names a deleted organization.
  turn.place = leaving.length > 1 && share?.left !== null ? id : "";
  return { removals: 1 };
};

/** Attempts to write the numbers. Another run may write its row first; this run then adds its numbers to that row. */
const TRIES = 5;

const NEWEST = sql`SELECT minute, facts FROM service_metric ORDER BY minute DESC LIMIT 1`;

/** Adds a row with the pools' numbers and the database's size. @throws Error if other runs were always first */
const writeNumbers = async (run: Upkeep, { rounds, failed, pools }: Swept): Promise<void> => {
  const { db, now } = run;
  for (let tries = 0; tries < TRIES; tries++) {
    const [{ results, meta }] = await db.run(db.statement<{ minute: number; facts: string }>(NEWEST));
    const [newest] = results;
    const before = newest && (JSON.parse(newest.facts) as ServiceNumbers);
    const numbers: ServiceNumbers = {
      at: now,
      rounds,
      gauges: toGauges(pools, failed),
      deadLetters: addDeadLetters(before?.deadLetters ?? {}, pools),
      today: addDay(before?.today, pools, now),
      stored: addStored(before?.stored ?? [], pools, now),
      totals: addTotals(before?.totals ?? NO_TOTALS, pools),
      databaseBytes: meta.size_after,
    };
    const last = newest?.minute ?? 0;
    const minute = Math.max(toMinute(now), last + 1);
    const [{ meta: writeMeta }] = await db.run(
      db.statement(sql`INSERT INTO service_metric (minute, facts) SELECT ${minute}, ${JSON.stringify(numbers)}
        WHERE coalesce((SELECT max(minute) FROM service_metric), 0) = ${last}`),
    );
    if (writeMeta.changes > 0) return;
  }
  throw new Error("Other runs of upkeep wrote their numbers first.");
};

/** Milliseconds after which a chore counts as failed. The rest of the run does not wait for it. */
const CHORE_MS = 90_000;

const sweep: Chore = async (run) => {
  const swept = await sweepPools(run);
  await writeNumbers(run, swept);
  return { pools: swept.pools.length };
};

interface Scheduled {
  name: string;
  /** Minutes between the chore's runs. */
  everyMinutes: number;
  chore: Chore;
}

/** The chores of upkeep. Each of them runs, whatever happens to the others. */
const CHORES: readonly Scheduled[] = [
  { name: "runSchedules", everyMinutes: 1, chore: runSchedules },
  { name: "sweep", everyMinutes: 1, chore: sweep },
  { name: "reconcileBuilds", everyMinutes: 60, chore: reconcileBuilds },
  { name: "countHistories", everyMinutes: 1, chore: countHistories },
  { name: "recountHistories", everyMinutes: 60, chore: recountHistories },
  { name: "removeBuilds", everyMinutes: 1, chore: removeBuilds },
  { name: "finishRemovals", everyMinutes: 1, chore: finishRemovals },
  // A list of objects in R2 costs as much as a write.
  { name: "removeArchived", everyMinutes: 10, chore: removeArchived },
  { name: "removeUnusedCache", everyMinutes: 60, chore: removeUnusedCache },
  { name: "countCaches", everyMinutes: 24 * 60, chore: countCaches },
  { name: "removeAudit", everyMinutes: 1, chore: removeAudit },
  { name: "removeUses", everyMinutes: 1, chore: removeUses },
  { name: "removeTraces", everyMinutes: 1, chore: removeTraces },
  { name: "countRows", everyMinutes: 1440, chore: countRows },
];

/**
 * Runs every minute: builds due schedules, sweeps the pools, and removes data past its retention. Sets failed tasks
 * aside, counts them and retries them later. A run that is interrupted, repeated, late, or concurrent with another does
 * no harm.
 */
export const keepUp = async (
  env: Env,
  at: Date,
  retention: { buildDays: number; auditDays: number },
): Promise<Done> => {
  const now = at.getTime();
  // Each chore has its own session. Calls of one session share a transaction, and therefore also their failures.
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
    // Retry a failed chore after its period at the latest, because its fault often affects everybody.
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
