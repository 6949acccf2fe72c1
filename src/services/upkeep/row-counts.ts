import { sql } from "drizzle-orm";
import type { DatabaseSession } from "../../db/session.ts";
import type { Chore } from "./run.ts";

/** The number of rows in one run. D1 reads rows at a table's end twice, and answers no other query while it counts. */
const COUNTED = 100_000;
/**
 * The tables that grow with the builds, with their keys. All key columns are text, so that each slice is a range of the
 * key.
 */
const GROWING: Record<string, readonly string[]> = {
  build_summary: ["org_id", "id"],
  job: ["org_id", "id"],
  test_result: ["org_id", "job_id", "test_id"],
  audit_log: ["org_id", "id"],
  variable_day: ["variable_id", "day"],
};

/** A table under count, with the key after which its count continues. */
interface Under {
  table: string;
  after: string[];
  /** The results so far of the current count. */
  tables: Record<string, number>;
}

/** The last complete count, with its time in milliseconds since 1970, and the current count. */
interface Place {
  at: number | null;
  tables: Record<string, number>;
  under?: Under | undefined;
}

/** Returns the stored state of `countRows`. The last complete count stays during the next one. */
export const rowCounts = (place: string): Place => (place ? JSON.parse(place) : { at: null, tables: {} });

/** Counts at most `room` rows after a key. @returns the last row's key if more rows may follow */
const countSlice = async (db: DatabaseSession, table: string, after: string[], room: number) => {
  const key = sql.raw(GROWING[table]!.join(", "));
  const values = GROWING[table]!.map((_, at) => sql`${after[at] ?? ""}`);
  const behind = sql`FROM ${sql.raw(table)} WHERE (${key}) > (${sql.join(values, sql`, `)})`;
  const [{ results: ends }] = await db.run(
    db.statement<Record<string, string>>(sql`SELECT ${key} ${behind} ORDER BY ${key} LIMIT 1 OFFSET ${room - 1}`),
  );
  if (ends[0]) return { rows: room, last: Object.values(ends[0]) };
  const [{ results: counts }] = await db.run(db.statement<{ rows: number }>(sql`SELECT count(*) AS rows ${behind}`));
  return { rows: counts[0]!.rows, last: null };
};

/** Counts the rows of the tables that grow, once a day and in as many runs as necessary. */
export const countRows: Chore = async ({ db, now, turn }) => {
  const { at, tables, under } = rowCounts(turn.place);
  const names = Object.keys(GROWING);
  const begun = under && names.includes(under.table) ? under : undefined;
  const counts = { ...begun?.tables };
  let room = COUNTED;
  for (const table of names.slice(begun ? names.indexOf(begun.table) : 0)) {
    const after = table === begun?.table ? begun.after : [];
    const { rows, last } = await countSlice(db, table, after, room);
    counts[table] = (counts[table] ?? 0) + rows;
    if (last) {
      turn.goesOn = true;
      turn.place = JSON.stringify({ at, tables, under: { table, after: last, tables: counts } } satisfies Place);
      return { countedRows: COUNTED };
    }
    // Another writer may have added rows between the two statements.
    room = Math.max(1, room - rows);
  }
  turn.place = JSON.stringify({ at: now, tables: counts } satisfies Place);
  return { countedRows: COUNTED - room };
};
