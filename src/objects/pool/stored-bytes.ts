import { countedPart, dayAfter, type StoredPart, savingPart } from "../../queue/state/stored-bytes.ts";

const TABLE = `
CREATE TABLE IF NOT EXISTS stored (kind TEXT, until TEXT, bytes INTEGER NOT NULL, PRIMARY KEY (kind, until)) WITHOUT ROWID;
`;
/**
 * Artifacts that the object remembers as freed. If two calls delete one artifact at the same time, its bytes are freed
 * only once.
 */
const MOST_FREED = 1000;

/**
 * The bytes of an organization's artifacts and caches in the archive. Each row has the bytes that are kept until one
 * day. A row expires with its day, and so does any error in it.
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

  /** Frees the bytes of an artifact that somebody deleted for good. */
  free(id: string, day: string, bytes: number): void {
    if (this.#freedIds.has(id)) return;
    if (this.#freedIds.size >= MOST_FREED) this.#freedIds.clear();
    this.#freedIds.add(id);
    this.#sql.exec("UPDATE stored SET bytes = max(0, bytes - ?) WHERE kind = 'artifact' AND until = ?", bytes, day);
  }

  /**
   * Records that an entry of several parts is complete. The entry stays until somebody deletes it. None of the entry's
   * uploads is left.
   */
  saved(entry: { cacheId: string; bytes: number }, now: number): void {
    const { kind, until, bytes } = savingPart({ ...entry, parts: 2 });
    this.#sql.exec("UPDATE stored SET bytes = max(0, bytes - ?) WHERE kind = ? AND until = ?", bytes, kind, until);
    const counted = this.#sql.exec("UPDATE stored SET bytes = bytes + ? WHERE kind = 'cache'", bytes).rowsWritten;
    if (counted === 0) this.add(countedPart(bytes, now), now);
  }

  /** Records the size of the cache, according to the archive's list. */
  counted(bytes: number, now: number): void {
    this.#sql.exec("DELETE FROM stored WHERE kind = 'cache'");
    this.add(countedPart(bytes, now), now);
  }
}
