import type { AgentRun } from "../../protocol/agent-run.ts";

/** Of the newest builds so many are looked at, so that a page costs the same whatever the pool remembers. */
const LOOKED_AT = 10_000;
const JOBS = 5_000;

/** A damaged row says nothing. */
const facts = (column: string) => `CASE WHEN json_valid(${column}) THEN ${column} ELSE '{}' END`;

/* Of a planned job; an earlier release kept both under `node`. */
const JOB = facts("j.facts");
const END = `coalesce(${JOB} -> '$.end', ${JOB} -> '$.node.end')`;
const PLACE = `coalesce(${JOB} ->> '$.index', ${JOB} ->> '$.node.index')`;

/**
 * Builds and jobs of these agents that ended since then. `ended_at` of a build is looked at first: its facts are read
 * only where it counts. Jobs of builds that are under way are no rows here.
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
  /** Builds that ended, of which `ended_at` does not say so yet. */
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
