import { sql } from "drizzle-orm";
import { ensure } from "../../db/guard.ts";
import { connection, pipeline, repository, token, variableGroup } from "../../db/schema.ts";
import { ORGANIZATION_LIMITS } from "../../protocol/organization-limits.ts";
import type { Context } from "./context.ts";

const COUNTED = {
  tokens: token,
  connections: connection,
  repositories: repository,
  pipelines: pipeline,
  groups: variableGroup,
};

/**
 * A statement that rolls its batch back where the organization has as many of these as it may have: D1 commits one batch
 * at a time, so requests of the same moment pass no limit together.
 */
export const ensureRoom = ({ db: { sql: db }, orgId }: Context, what: keyof typeof COUNTED) => {
  const table = COUNTED[what];
  const own = sql`(SELECT limits ->> ${what} FROM organization WHERE id = ${orgId})`;
  const count = sql`(SELECT count(*) FROM ${table} WHERE ${table.orgId} = ${orgId})`;
  return ensure(db, "within_limit", sql`${count} < coalesce(${own}, ${ORGANIZATION_LIMITS[what]})`);
};
