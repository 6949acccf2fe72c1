import type { AgentRun } from "../../protocol/agent.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { deleteJobs } from "./job-rows.ts";
import { REVOKED } from "./tables.ts";

/**
 * The number of newest builds that a query reads at most. The cost of a page then does not depend on how many builds
 * the pool remembers.
 */
const LOOKED_AT = 10_000;
const JOBS = 5_000;

/** Reads the facts in a column. A damaged row has no facts. */
const facts = (column: string) => `CASE WHEN json_valid(${column}) THEN ${column} ELSE '{}' END`;

/* A planned job's facts. An earlier release kept both under `node`. */
const JOB = facts("j.facts");
const END = `coalesce(${JOB} -> '$.end', ${JOB} -> '$.node.end')`;
const PLACE = `coalesce(${JOB} ->> '$.index', ${JOB} ->> '$.node.index')`;

/**
 * Builds and jobs of these agents that ended after a given time. The query checks a build's `ended_at` first, and reads
 * the build's facts only where it needs them. Jobs of active builds have no rows here.
 */
const QUERY = `
WITH newest AS (
  SELECT seq FROM build WHERE seq > (SELECT max(seq) FROM build) - ${LOOKED_AT} AND ended_at > ?1
  UNION SELECT seq FROM build WHERE id IN (SELECT value FROM json_each(?2))
), ended AS MATERIALIZED (
  SELECT b.id, ${facts("b.facts")} AS facts FROM newest JOIN build b USING (seq)
), run AS (
  SELECT id AS buildId, NULL AS jobId, NULL AS place, facts ->> '$.number' AS number, facts ->> '$.pipelineId' AS pipelineId,
    facts ->> '$.job.agentId' AS agentId, facts ->> '$.status' AS status,
    facts ->> '$.startedAt' AS startedAt, facts ->> '$.finishedAt' AS finishedAt
  FROM ended WHERE facts -> '$.several' IS NULL AND facts ->> '$.until' IS NULL
  UNION ALL
  SELECT buildId, jobId, place, number, pipelineId, job ->> '$.agentId', job ->> '$.status', job ->> '$.startedAt', job ->> '$.finishedAt'
  FROM (
    SELECT ended.id AS buildId, j.id AS jobId, ended.facts ->> '$.number' AS number,
      ended.facts ->> '$.pipelineId' AS pipelineId, ${END} AS job,
      ${PLACE} AS place
    FROM ended JOIN build_job j ON j.build_id = ended.id LIMIT ${JOBS}
  ) WHERE job -> '$.adopted' IS NULL
)
SELECT buildId, jobId, number, pipelineId, agentId, status, startedAt, finishedAt,
  (SELECT ${facts("p.facts")} ->> ('$.graph.jobs[' || place || '].key') FROM plan p WHERE p.build_id = buildId) AS jobKey
FROM (
  SELECT * FROM run WHERE agentId IN (SELECT value FROM json_each(?3)) AND startedAt IS NOT NULL AND finishedAt > ?1
  ORDER BY finishedAt DESC LIMIT ?4
)`;

export interface AskedRuns {
  agentIds: readonly string[];
  since: number;
  /** Ended builds whose `ended_at` is not set yet. */
  untold: readonly string[];
  limit: number;
}

export const endedRuns = (sql: SqlStorage, { agentIds, since, untold, limit }: AskedRuns): AgentRun[] =>
  sql
    .exec<Record<keyof AgentRun, SqlStorageValue>>(
      QUERY,
      since,
      JSON.stringify(untold),
      JSON.stringify(agentIds),
      limit,
    )
    .toArray() as unknown as AgentRun[];

/** Rows of a table that one slice deletes at most, so that it never blocks the queue. */
const SLICE = 500;
/**
 * Builds that an agent may still receive. If the pool deleted a build's row of `inputs`, its run would lose its values.
 */
const ACTIVE_BUILD_IDS = "SELECT id FROM build WHERE ended_at IS NULL";

/** Deletes the large run values of the oldest ended builds, so that run values never fill the disk. */
export const deleteLargeRunValues = (sql: SqlStorage): void => {
  const { largeInputsCharacters, largeInputsKept } = LIMITS;
  const older = `SELECT build_id FROM inputs WHERE length(facts) > ${largeInputsCharacters} ORDER BY at DESC LIMIT -1 OFFSET ${largeInputsKept}`;
  sql.exec(`DELETE FROM inputs WHERE build_id IN (${older}) AND build_id NOT IN (${ACTIVE_BUILD_IDS})`);
};

/**
 * Deletes one slice of expired rows that no request may read, the oldest first. Keeps a build until the pool has
 * notified D1.
 * @returns whether more expired rows may be left
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
      SLICE,
      before,
    )
    .toArray().length;
  sql.exec("DELETE FROM meta WHERE name LIKE ? AND CAST(value AS INTEGER) < ?", `${REVOKED}%`, revokedBefore);
  const oldest = `SELECT rowid FROM inputs WHERE build_id NOT IN (${ACTIVE_BUILD_IDS}) ORDER BY rowid LIMIT ?`;
  const inputs = sql
    .exec(`DELETE FROM inputs WHERE rowid IN (${oldest}) AND at < ? RETURNING 1`, SLICE, before - runValuesMs)
    .toArray().length;
  const heads = forgetBefore(sql, "head", "pipeline, ref, purpose", headsBefore);
  const deliveries = forgetBefore(sql, "delivery", "connection, id", headsBefore);
  return [old.length, keys, inputs, heads, deliveries].includes(SLICE);
};

/** Deletes rows of a table that has no row ids. @returns how many rows it deleted */
const forgetBefore = (sql: SqlStorage, table: string, key: string, before: number): number => {
  const old = `SELECT ${key} FROM ${table} WHERE at < ? LIMIT ?`;
  return sql.exec(`DELETE FROM ${table} WHERE (${key}) IN (${old}) RETURNING 1`, before, SLICE).toArray().length;
};
