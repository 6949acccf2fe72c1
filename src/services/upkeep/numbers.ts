import { type SQL, sql } from "drizzle-orm";
import { addDeadLetters, addTotals, gaugesOf, NO_TOTALS, type ServiceNumbers } from "../../domain/service-numbers.ts";
import type { Swept } from "./pools.ts";
import { minuteOf, type Run } from "./run.ts";

const DAY_MS = 86_400_000;
/** Another run may write its row first; then the numbers are added to that one. */
const TRIES = 5;
/** The tables that grow with the builds. */
const GROWING = ["build_summary", "build", "job", "test_result", "audit_log", "audit", "variable_day", "variable_use"];

const NEWEST = sql`SELECT minute, facts FROM service_metric ORDER BY minute DESC LIMIT 1`;

/** Counts rows once a day: a count reads the whole table. */
const countRows = async ({ db, now }: Run, before: ServiceNumbers["rows"]): Promise<ServiceNumbers["rows"]> => {
  if (before && now - before.at < DAY_MS) return before;
  const counts: SQL[] = GROWING.map(
    (table) => sql`(SELECT count(*) FROM ${sql.identifier(table)}) AS ${sql.identifier(table)}`,
  );
  const [{ results }] = await db.run(db.statement<Record<string, number>>(sql`SELECT ${sql.join(counts, sql`, `)}`));
  return { at: now, tables: results[0]! };
};

/** Adds a row with the numbers of the pools and of the database. @throws Error where other runs were always first */
export const writeNumbers = async (run: Run, { rounds, failed, pools }: Swept): Promise<void> => {
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
      totals: addTotals(before?.totals ?? NO_TOTALS, pools),
      databaseBytes: meta.size_after,
      rows: await countRows(run, before?.rows ?? null),
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
