import { sql } from "drizzle-orm";
import type { AgentRun } from "../protocol/agent-run.ts";
import type { Context } from "./core/context.ts";

/** Names in one answer of D1, which reads four rows for each. */
const NAMED = 60;

/** What these agents ran in the last hour. */
export const agentRuns = async (context: Context, agentIds: string[]): Promise<AgentRun[]> => {
  return agentIds.length === 0 ? [] : (await context.pool()).runs(agentIds);
};

/** `acme/shop / ci` by the ids of the pipelines that built last: asked for without knowing what agents ran. */
export const pipelinesOfLate = async ({ db, orgId }: Context): Promise<Map<string, string>> => {
  const [{ results }] = await db.run(
    db.statement<{ id: string; name: string }>(sql`SELECT p.id, r.full_name || ' / ' || p.name AS name
      FROM pipeline_history h CROSS JOIN pipeline p ON p.id = h.pipeline_id AND p.org_id = h.org_id
      JOIN repository r ON r.id = p.repo_id
      WHERE h.org_id = ${orgId} AND h.newest > '' ORDER BY h.newest DESC LIMIT ${NAMED}`),
  );
  return new Map(results.map(({ id, name }) => [id, name]));
};
