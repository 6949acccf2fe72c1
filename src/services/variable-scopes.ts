import { and, eq, inArray, or, type SQL, type SQLWrapper } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Database } from "../db/query.ts";
import { pipelineGroup, variable, variableGroup } from "../db/schema.ts";

/** The groups attached to a pipeline that are there. */
export const groupsOfPipeline = (db: Database, orgId: string, pipelineId: string | null) =>
  db
    .select({ id: variableGroup.id })
    .from(pipelineGroup)
    .innerJoin(variableGroup, eq(variableGroup.id, pipelineGroup.groupId))
    .where(and(eq(pipelineGroup.pipelineId, pipelineId ?? ""), eq(variableGroup.orgId, orgId)));

/** An id that is known, or the query that finds it. */
type Sought = string | null | SQLWrapper;

const isAny = (column: SQLiteColumn, sought: Sought): SQL =>
  typeof sought === "string" || sought === null ? eq(column, sought ?? "") : inArray(column, sought);

/** Active variables of every scope that one build draws from. */
export const variablesOfBuild = (db: Database, orgId: string, repoId: Sought, pipelineId: Sought) => {
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
    .where(and(eq(variable.orgId, orgId), eq(variable.isActive, true), scopes));
};
