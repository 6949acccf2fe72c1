import journal from "../../migrations/meta/_journal.json" with { type: "json" };

/** The code is newer than the database's tables. */
export class MigrationsMissing extends Error {
  override name = "MigrationsMissing";
  readonly missing: string[];
  constructor(missing: string[]) {
    super(`not applied: ${missing.join(", ")}`);
    this.missing = missing;
  }
}

/** Databases that this isolate has seen to be as new as its code; they do not grow older. */
const current = new WeakSet<D1Database>();

/**
 * Looks once whether the database has every migration that this code knows: SQLite takes a quoted column that is not
 * there for a text, so a query of newer code would answer nonsense instead of failing.
 * @throws MigrationsMissing
 */
export const checkMigrations = async (db: D1Database): Promise<void> => {
  if (current.has(db)) return;
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const missing = journal.entries.map(({ tag }) => `${tag}.sql`).filter((name) => !applied.has(name));
  if (missing.length > 0) throw new MigrationsMissing(missing);
  current.add(db);
};
