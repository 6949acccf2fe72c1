import type { Deletion } from "../domain/pool/facts.ts";

/** Milliseconds for which a deletion is remembered: D1 can be restored to any of the last 30 days. */
const REMEMBER_MS = 31 * 24 * 60 * 60 * 1000;

/** A row is a tombstone: `facts` is the deletion, and `is_done` says that nothing of it is left elsewhere. */
const DELETION_TABLE = `
CREATE TABLE IF NOT EXISTS deletion (build_id TEXT PRIMARY KEY, at INTEGER NOT NULL, is_done INTEGER NOT NULL, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deletion_pending ON deletion (at) WHERE is_done = 0;
`;

/** The pool's tombstones on disk. */
export class DeletionRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(DELETION_TABLE);
  }

  find(buildId: string): Deletion | undefined {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM deletion WHERE build_id = ?", buildId);
    return row && (JSON.parse(row.facts) as Deletion);
  }

  /** Every deletion of the last month. */
  all(): Deletion[] {
    return [...this.#sql.exec<{ facts: string }>("SELECT facts FROM deletion")].map(({ facts }) => JSON.parse(facts));
  }

  /** Deletions that are not carried out yet, the oldest first. */
  pending(limit = Number.MAX_SAFE_INTEGER): Deletion[] {
    const query = "SELECT facts FROM deletion WHERE is_done = 0 ORDER BY at LIMIT ?";
    return [...this.#sql.exec<{ facts: string }>(query, limit)].map(({ facts }) => JSON.parse(facts) as Deletion);
  }

  forgetOld(now: number): void {
    this.#sql.exec("DELETE FROM deletion WHERE is_done = 1 AND at < ?", now - REMEMBER_MS);
  }
}
