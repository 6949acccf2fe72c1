import { deleteJobs } from "./job-rows.ts";
import { REVOKED } from "./tables.ts";

/** Rows of a table that one slice deletes at most, so that it never blocks the queue. */
const SLICE = 500;
/** Builds that may still be handed out: without its row of `inputs`, a run would lose its values. */
export const ACTIVE_BUILD_IDS = "SELECT id FROM build WHERE ended_at IS NULL";

/**
 * Deletes one slice of what no request may read any more, the oldest first. A build of which D1 was not told is kept.
 * @returns whether more may be left
 */
export const forgetSlice = (
  sql: SqlStorage,
  { before, revokedBefore, headsBefore }: { before: number; revokedBefore: number; headsBefore: number },
  runValuesMs: number,
): boolean => {
  const old = [...sql.exec<{ id: string }>("SELECT id FROM build WHERE ended_at < ? LIMIT ?", before, SLICE)];
  const ids = JSON.stringify(old.map(({ id }) => id));
  sql.exec("DELETE FROM report WHERE build_id IN (SELECT value FROM json_each(?))", ids);
  if (old.length > 0) deleteJobs(sql, ids);
  sql.exec("DELETE FROM build WHERE id IN (SELECT value FROM json_each(?))", ids);
  sql.exec("DELETE FROM deletion WHERE is_done = 1 AND at < ?", revokedBefore);
  const keys = sql
    .exec(
      "DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency ORDER BY rowid LIMIT ?) AND at < ? RETURNING 1",
      ...[SLICE, before],
    )
    .toArray().length;
  sql.exec("DELETE FROM meta WHERE name LIKE ? AND CAST(value AS INTEGER) < ?", `${REVOKED}%`, revokedBefore);
  const oldest = `SELECT rowid FROM inputs WHERE build_id NOT IN (${ACTIVE_BUILD_IDS}) ORDER BY rowid LIMIT ?`;
  const inputs = sql
    .exec(`DELETE FROM inputs WHERE rowid IN (${oldest}) AND at < ? RETURNING 1`, ...[SLICE, before - runValuesMs])
    .toArray().length;
  const heads = forgetBefore(sql, "head", "pipeline, ref, purpose", headsBefore);
  const deliveries = forgetBefore(sql, "delivery", "connection, id", headsBefore);
  return [old.length, keys, inputs, heads, deliveries].includes(SLICE);
};

/** Deletes rows of a table without row ids. @returns how many */
const forgetBefore = (sql: SqlStorage, table: string, key: string, before: number): number => {
  const old = `SELECT ${key} FROM ${table} WHERE at < ? LIMIT ?`;
  return sql.exec(`DELETE FROM ${table} WHERE (${key}) IN (${old}) RETURNING 1`, before, SLICE).toArray().length;
};
