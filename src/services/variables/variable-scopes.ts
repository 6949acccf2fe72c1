import { and, asc, eq, inArray, or, type SQL, type SQLWrapper } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Database } from "../../db/query.ts";
import { pipelineGroup, variable, variableGroup } from "../../db/schema.ts";
import { LIMITS } from "../../protocol/limits.ts";

/** Selects the pipeline's groups, in its order. A deleted group has no name. */
export const groupsOfPipeline = (db: Database, orgId: string, pipelineId: string | null) =>
  db
    .select({ id: variableGroup.id, name: variableGroup.name, protection: variableGroup.protection })
    .from(pipelineGroup)
    .leftJoin(variableGroup, and(eq(variableGroup.id, pipelineGroup.groupId), eq(variableGroup.orgId, orgId)))
    .where(eq(pipelineGroup.pipelineId, pipelineId ?? ""))
    .orderBy(asc(pipelineGroup.position));

/** An id, or the query that finds the id. */
type IdOrQuery = string | null | SQLWrapper;

const isAny = (column: SQLiteColumn, id: IdOrQuery): SQL =>
  typeof id === "string" || id === null ? eq(column, id ?? "") : inArray(column, id);

/**
 * Selects the active variables of every scope that applies to one build. Returns at most one more variable than a
 * build may have, so that `compose` sees the excess without reading all variables. Returns none unless `onlyIf` holds.
 */
export const variablesOfBuild = (
  db: Database,
  orgId: string,
  repoId: IdOrQuery,
  pipelineId: IdOrQuery,
  onlyIf?: SQL,
) => {
  const groups = db
    .select({ id: pipelineGroup.groupId })
    .from(pipelineGroup)
    .where(isAny(pipelineGroup.pipelineId, pipelineId));
  const scopes = or(
    and(eq(variable.scope, "organization"), eq(variable.ownerId, orgId)),
    and(eq(variable.scope, "repository"), isAny(variable.ownerId, repoId)),
    and(eq(variable.scope, "pipeline"), isAny(variable.ownerId, pipelineId)),
    and(eq(variable.scope, "group"), inArray(variable.ownerId, groups)),
  );
  return db
    .select()
    .from(variable)
    .where(and(eq(variable.orgId, orgId), eq(variable.isActive, true), scopes, onlyIf))
    .$dynamic()
    .limit(LIMITS.activeVariables + 1);
};
