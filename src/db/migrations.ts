import journal from "../../migrations/meta/_journal.json" with { type: "json" };
import { oncePer } from "../once-per.ts";

/** The database lacks migrations that the code needs. */
export class MigrationsMissing extends Error {
  override name = "MigrationsMissing";
  readonly missing: string[];
  constructor(missing: string[]) {
    super(`not applied: ${missing.join(", ")}`);
    this.missing = missing;
  }
}

const once = oncePer<true>();

/**
 * Checks once that the database has every migration that this code knows. Without the check, a query with a column
 * that is missing would succeed and return wrong rows: SQLite reads a quoted unknown name as a text.
 * @throws MigrationsMissing
 */
export const checkMigrations = async (db: D1Database): Promise<void> => {
  await once(db, () => checkNow(db));
};

const checkNow = async (db: D1Database): Promise<true> => {
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const missing = journal.entries.map(({ tag }) => `${tag}.sql`).filter((name) => !applied.has(name));
  if (missing.length > 0) throw new MigrationsMissing(missing);
  return true;
};
