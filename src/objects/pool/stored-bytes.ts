import { countedPart, dayAfter, type StoredPart, savingPart } from "../../queue/state/stored-bytes.ts";

const TABLE = `
CREATE TABLE IF NOT EXISTS stored (kind TEXT, until TEXT, bytes INTEGER NOT NULL, PRIMARY KEY (kind, until)) WITHOUT ROWID;
`;
/** Artifacts whose bytes were freed: a person who deletes one twice at once frees it once. */
const MOST_FREED = 1000;

/**
 * How many bytes of artifacts and caches the organization has in the archive: a row for each day until which some are
 * kept. A row goes with its day, so whatever is wrong with it does too.
 */
export class StoredBytes {
  readonly #sql: SqlStorage;
  readonly #freedIds = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(TABLE);
  }

  used(now: number): number {
    const sum = "SELECT coalesce(sum(bytes), 0) AS bytes FROM stored WHERE until >= ?";
    return this.#sql.exec<{ bytes: number }>(sum, dayAfter(now, 0)).one().bytes;
  }

  add({ kind, until, bytes }: StoredPart, now: number): void {
    this.#sql.exec("DELETE FROM stored WHERE until < ?", dayAfter(now, 0));
    const add = "ON CONFLICT (kind, until) DO UPDATE SET bytes = max(0, bytes + excluded.bytes)";
    this.#sql.exec(`INSERT INTO stored VALUES (?, ?, ?) ${add}`, kind, until, bytes);
  }

  /** An artifact was deleted for good. */
  free(id: string, day: string, bytes: number): void {
    if (this.#freedIds.has(id)) return;
    if (this.#freedIds.size >= MOST_FREED) this.#freedIds.clear();
    this.#freedIds.add(id);
    this.#sql.exec("UPDATE stored SET bytes = max(0, bytes - ?) WHERE kind = 'artifact' AND until = ?", bytes, day);
  }

  /** An entry of several parts is whole: it is there until somebody deletes it, and no upload is left. */
  saved(entry: { cacheId: string; bytes: number }, now: number): void {
    const { kind, until, bytes } = savingPart({ ...entry, parts: 2 });
    this.#sql.exec("UPDATE stored SET bytes = max(0, bytes - ?) WHERE kind = ? AND until = ?", bytes, kind, until);
    const counted = this.#sql.exec("UPDATE stored SET bytes = bytes + ? WHERE kind = 'cache'", bytes).rowsWritten;
    if (counted === 0) this.add(countedPart(bytes, now), now);
  }

  /** The cache has so many bytes, as the archive lists them. */
  counted(bytes: number, now: number): void {
    this.#sql.exec("DELETE FROM stored WHERE kind = 'cache'");
    this.add(countedPart(bytes, now), now);
  }
}
