import { env } from "cloudflare:workers";
import { firstIdAt } from "../../../src/domain/id-range.ts";

const MINUTE_MS = 60_000;

const BUILDS = `build_summary (org_id, id, number, repo_id, pipeline_id, ref, event, trigger, priority, attempt, leak,
  queued_at, pool_version, status, finished_at)
  SELECT org, id, 1, org || '-r', org || '-p', 'refs/heads/main', 'api', 'api', 0, 1, 0, now, 1`;

/** The records of each: a repository, a pipeline, a build that has just ended, and one that began three hours ago. */
const ROWS = [
  "organization (id, name, created_at) SELECT org, org, '' FROM many",
  "pool (org_id, sequence, complete, active, at) SELECT org, 0, 0, 1, now FROM many",
  `repository (id, org_id, git_host_repo_id, full_name, clone_url, clone_host, default_branch, is_active, created_at, updated_at)
    SELECT org || '-r', org, n, org, 'https://git.example/' || org, 'git.example', 'main', 1, '', '' FROM many`,
  `pipeline (id, org_id, repo_id, name, config_path, requires, timeout_seconds, max_attempts, is_active, created_at, updated_at)
    SELECT org || '-p', org, org || '-r', 'ci', '.millrace.yml', '{}', 60, 1, 1, '', '' FROM many`,
  `${BUILDS}, 'succeeded', now - ${MINUTE_MS} FROM many, (SELECT young AS id FROM many LIMIT 1)`,
  `${BUILDS}, 'running', NULL FROM many, (SELECT old AS id FROM many LIMIT 1)`,
];

/**
 * Creates this many organizations that are busy `now`, according to D1. Their objects begin empty. @returns their ids
 */
export const newOrganizations = async (count: number, now: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, (_, n) => `many-${String(n).padStart(5, "0")}`);
  const many = `WITH many AS (SELECT value AS org, key AS n, ${now} AS now, '${firstIdAt(now - 2 * MINUTE_MS)}' AS young,
    '${firstIdAt(now - 180 * MINUTE_MS)}' AS old FROM json_each(?))`;
  await env.DB.batch(ROWS.map((rows) => env.DB.prepare(`${many} INSERT INTO ${rows}`).bind(JSON.stringify(ids))));
  return ids;
};
