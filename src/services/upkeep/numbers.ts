import { sql } from "drizzle-orm";
import { addDay } from "../../domain/service-days.ts";
import { addDeadLetters, addTotals, gaugesOf, NO_TOTALS, type ServiceNumbers } from "../../domain/service-numbers.ts";
import { addStored } from "../../domain/service-store.ts";
import type { Swept } from "./pools.ts";
import { minuteOf, type Run } from "./run.ts";

/** Another run may write its row first; then the numbers are added to that one. */
const TRIES = 5;

const NEWEST = sql`SELECT minute, facts FROM service_metric ORDER BY minute DESC LIMIT 1`;

/** Adds a row with the numbers of the pools and the size of the database. @throws Error where other runs were always first */
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
