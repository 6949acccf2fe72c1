import { dayOf } from "../archive/keys.ts";
import { deleteLogs } from "../archive/logs.ts";
import { deleteRecord } from "../archive/records.ts";
import { eraseBuild } from "../db/projection.ts";
import { buildLogName } from "../domain/object-names.ts";
import type { Deletion, DeletionResult } from "../domain/pool/delete.ts";
import type { Change } from "../domain/pool/facts.ts";
import type { Write } from "./agent-pool-tables.ts";
import type { BuildLog } from "./build-log.ts";

/** Deletions that one attempt carries out at most. */
const BATCH_SIZE = 50;
/** Milliseconds for which a deletion is remembered: D1 can be restored to any of the last 30 days. */
const REMEMBER_MS = 31 * 24 * 60 * 60 * 1000;

/** A row is a tombstone: `facts` is the deletion, and `is_done` says that nothing of it is left elsewhere. */
export const DELETION_TABLE = `
CREATE TABLE IF NOT EXISTS deletion (build_id TEXT PRIMARY KEY, at INTEGER NOT NULL, is_done INTEGER NOT NULL, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deletion_pending ON deletion (at) WHERE is_done = 0;
`;

type DeletionChange = Extract<Change, { kind: "deleted" | "deletions-done" }>;

/** The SQL statements that store a deletion, or that it was carried out. */
export const deletionWrites = (change: DeletionChange): Write[] => {
  if (change.kind === "deletions-done") {
    const done = "UPDATE deletion SET is_done = 1 WHERE build_id IN (SELECT value FROM json_each(?))";
    return [[done, JSON.stringify(change.buildIds)]];
  }
  const { deletion } = change;
  const { buildId, deleted, at } = deletion;
  const row: Write = ["INSERT OR REPLACE INTO deletion VALUES (?, ?, 0, ?)", buildId, at, JSON.stringify(deletion)];
  if (deleted === "log") return [row];
  return [
    row,
    ["DELETE FROM build WHERE id = ?", buildId],
    ["DELETE FROM report WHERE build_id = ?", buildId],
    ["DELETE FROM inputs WHERE build_id = ?", buildId],
  ];
};

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

  /** Deletions that are not carried out yet, the oldest first. */
  pending(limit = Number.MAX_SAFE_INTEGER): Deletion[] {
    const query = "SELECT facts FROM deletion WHERE is_done = 0 ORDER BY at LIMIT ?";
    return [...this.#sql.exec<{ facts: string }>(query, limit)].map(({ facts }) => JSON.parse(facts) as Deletion);
  }

  forgetOld(now: number): void {
    this.#sql.exec("DELETE FROM deletion WHERE is_done = 1 AND at < ?", now - REMEMBER_MS);
  }
}

/** Carries out deletions: in the log, in the archive, then in D1. Each may be repeated, and holds up no other. */
export class Deletions {
  readonly #env: Env;
  readonly #db: D1Database;
  readonly #rows: DeletionRows;

  constructor(env: Env, db: D1Database, rows: DeletionRows) {
    this.#env = env;
    this.#db = db;
    this.#rows = rows;
  }

  /** One attempt with the oldest. @returns which are done */
  async deliver(orgId: string): Promise<DeletionResult> {
    const result: DeletionResult = { done: [], failed: false };
    await Promise.all(this.#rows.pending(BATCH_SIZE).map((deletion) => this.#deliverOne(orgId, deletion, result)));
    return result;
  }

  async #deliverOne(orgId: string, deletion: Deletion, result: DeletionResult): Promise<void> {
    const { buildId } = deletion;
    try {
      await this.#erase(orgId, deletion);
      result.done.push(deletion);
    } catch (error) {
      result.failed = true;
      console.error("pool: a deletion could not be carried out; the next attempt will try again", buildId, error);
    }
  }

  async #erase(orgId: string, { buildId, deleted, finishedAt }: Deletion): Promise<void> {
    const { ARCHIVE } = this.#env;
    const logs = this.#env.BUILD_LOG as DurableObjectNamespace<BuildLog>;
    await logs.getByName(buildLogName(orgId, buildId)).remove();
    await deleteLogs(ARCHIVE, { day: dayOf(finishedAt), orgId, jobId: buildId });
    if (deleted === "log") return;
    await deleteRecord(ARCHIVE, { orgId, id: buildId, finishedAt: new Date(finishedAt).toISOString() });
    await this.#db.batch(eraseBuild(this.#db, orgId, buildId));
  }
}
