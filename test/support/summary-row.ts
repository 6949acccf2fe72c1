import { env } from "cloudflare:workers";
import { firstIdAt } from "../../src/domain/id-range.ts";

/** A build's row in D1, by the names of the columns. */
export type SummaryRow = Record<string, string | number | null> & { id: string; queued_at: number };

/** Returns the id of a build that was triggered at this time. */
const idAt = (at: number): string => firstIdAt(at).slice(0, 24) + crypto.randomUUID().slice(24);

/** Writes the row of an ended build, unless `more` overrides that. */
export const writeSummary = async (orgId: string, more: Record<string, string | number | null> = {}) => {
  const queuedAt = Number(more.queued_at ?? Date.now());
  const row: SummaryRow = {
    ...{ org_id: orgId, id: idAt(queuedAt), number: 1, repo_id: crypto.randomUUID(), pipeline_id: null },
    ...{ ref: "refs/heads/main", commit_sha: null, event: "api", trigger: "api", priority: 0, status: "succeeded" },
    ...{ attempt: 1, agent_id: null, leak: 0, queued_at: queuedAt, started_at: queuedAt, finished_at: queuedAt + 1 },
    ...{ pool_version: queuedAt, ...more },
  };
  const columns = Object.keys(row);
  await env.DB.prepare(`INSERT INTO build_summary (${columns}) VALUES (${columns.map(() => "?")})`)
    .bind(...Object.values(row))
    .run();
  return row;
};
