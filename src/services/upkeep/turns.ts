import { sql } from "drizzle-orm";
import type { DatabaseSession } from "../../db/session.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { minuteOf, type Turn } from "./run.ts";

/** Longer than a chore may take: one that was killed with its run begins again then. */
const CLAIM_MS = 2 * MINUTE_MS;

/** A chore by name, with the minutes from one run of it to the next. */
interface Timed {
  name: string;
  everyMinutes: number;
}

/** D1 has no free page: it still reads and deletes. */
const FULL = /Exceeded maximum DB size|exceeded D1's maximum account storage/;
const isFull = (error: unknown): boolean => error instanceof Error && FULL.test(error.message);

const isPeriodic = ({ everyMinutes }: Timed): boolean => everyMinutes > 1;

/**
 * Takes the turns of the chores that are due, by when each last ran and not by the minute of the hour: a cron that is
 * late or never comes makes no chore miss its turn, and of two at once one gets it. A chore of every run needs no turn:
 * it runs also where the database is too full to note one, or nothing would ever delete what fills it.
 */
export const takeTurns = async <C extends Timed>(
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
  const known = db.statement<{ kind: string; subject: string; place: string }>(
    sql`SELECT kind, subject, reason AS place FROM upkeep_failure
      WHERE kind = 'turn' OR (kind = 'chore' AND next_at > ${now})`,
  );
  const [stored, claimed] = await db.run(known, claim).catch(async (error) => {
    if (!isFull(error)) throw error;
    return [...(await db.run(known)), { results: [] }] as const;
  });
  const has = (kind: string, name: string) => stored.results.find((row) => row.kind === kind && row.subject === name);
  const isDue = (chore: C) =>
    (!isPeriodic(chore) || claimed.results.some(({ subject }) => subject === chore.name)) && !has("chore", chore.name);
  return chores
    .filter(isDue)
    .map((chore) => ({ ...chore, turn: { place: has("turn", chore.name)?.place ?? "", goesOn: false } }));
};

/** Remembers that a chore did its turn, and where it goes on. One that is not through goes on in the next run. */
export const endTurn = async (
  db: DatabaseSession,
  now: number,
  { name, everyMinutes }: Timed,
  { place, goesOn }: Turn,
): Promise<void> => {
  const nextAt = (minuteOf(now) + (goesOn ? 1 : everyMinutes)) * MINUTE_MS;
  await db.run(
    db.statement(sql`INSERT INTO upkeep_failure (kind, subject, org_id, tries, next_at, reason)
      VALUES ('turn', ${name}, NULL, 0, ${nextAt}, ${place})
      ON CONFLICT (kind, subject) DO UPDATE SET next_at = excluded.next_at, reason = excluded.reason`),
  );
};
