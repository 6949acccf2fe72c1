import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { writeOldRows } from "../support/old-rows.ts";
import { serveBundled } from "../support/served-worker.ts";

const ENTRY = join(import.meta.dirname, "retention-worker.ts");
const DAY_MS = 86_400_000;
const ROUNDS = 10;
/** Milliseconds between two rounds; a minute in production. The pool deletes its next slices after a second. */
const ROUND_MS = 2_000;
const POOL_BUILDS = 50_000;
const ROWS = {
  ...{ builds: 50_000, audit: 50_000, uses: 25_000 },
};
const TABLES = ["build_summary", "audit_log", "variable_day"];

interface Round {
  done: Record<string, number>;
  objectCalls: number;
  ms: number;
}

const countRows = async (db: D1Database): Promise<number> => {
  const counts = TABLES.map((table) => `(SELECT count(*) FROM ${table})`).join(" + ");
  return (await db.prepare(`SELECT ${counts} AS count`).first<{ count: number }>())?.count ?? 0;
};

/** Fills a pool and a database with old rows. Runs upkeep until they are gone, while another pool is unavailable. */
export const drill = async (): Promise<boolean> => {
  const service = await serveBundled({ entry: ENTRY });
  const ask = async <T>(path: string): Promise<T> => (await (await fetch(service.url + path)).json()) as T;
  const { db } = service;
  try {
    const now = Date.now();
    await writeOldRows(db, { orgId: "old", until: now - 500 * DAY_MS, ...ROWS });
    await ask(`/fill?builds=${POOL_BUILDS}`);
    for (const orgId of ["old", "stuck"]) {
      await db.prepare("INSERT INTO pool VALUES (?, 1, 1, 1, ?)").bind(orgId, now).run();
    }
    console.log(`${await countRows(db)} old rows in D1, ${await ask<number>("/left")} in the pool`);
    const minute = Math.floor(now / 60_000);
    for (let round = 1; round <= ROUNDS; round++) {
      const { objectCalls, ms } = await ask<Round>(`/upkeep?minute=${minute + round}`);
      const [rows, builds] = [await countRows(db), await ask<number>("/left")];
      console.log(
        `round ${round}: ${rows} rows left in D1, ${builds} in the pool; ${objectCalls} object calls, ${ms} ms`,
      );
      if (rows === 0 && builds === 0) return true;
      await setTimeout(ROUND_MS);
    }
    return false;
  } finally {
    const { results } = await db
      .prepare("SELECT kind, subject, tries, reason FROM upkeep_failure WHERE tries > 0")
      .all();
    console.log("set aside:", results);
    await service.stop();
  }
};
