import * as z from "zod/mini";
import { pipeline } from "../db/schema.ts";
import { compose, EnvironmentTooLarge, type ScopedVariable, withoutSecret } from "../domain/compose.ts";
import { PathId } from "../protocol/common.ts";
import { EnvironmentEntry } from "../protocol/pipeline.ts";
import { isOwn } from "./core/record.ts";
import { notFound, Refusal } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { groupIdsOf } from "./pipelines.ts";
import { variablesOfBuild } from "./variable-scopes.ts";
import type { VariableRow } from "./variables.ts";

/** A stored row as `compose` takes it, with its opened value, or null where the caller may not see it. */
export const scoped = <V extends string | null>(row: VariableRow, value: V): ScopedVariable<V> => {
  const { id, scope, ownerId, key, isSecret, isActive, allowOverride, version } = row;
  return {
    id,
    scope,
    groupId: scope === "group" ? ownerId : null,
    key,
    value,
    isSecret,
    isActive,
    allowOverride,
    version,
  };
};

/** The environment that a build of the pipeline would have: for each key the winning variable and those it overrides. */
export const previewEnvironment = verb({
  access: { role: "viewer" },
  params: PathId,
  query: z.strictObject({ branch: z.optional(z.string().check(z.maxLength(250))) }),
  output: z.array(EnvironmentEntry),
  async run(context, { params }) {
    const { db, orgId } = context;
    const isThis = isOwn(context, pipeline, params.id);
    const owner = db.sql.select({ id: pipeline.repoId }).from(pipeline).where(isThis);
    const [[found], rows] = await db.run(
      db.sql.select({ groups: groupIdsOf }).from(pipeline).where(isThis),
      variablesOfBuild(db.sql, orgId, owner, params.id),
    );
    if (!found) throw notFound();
    const variables = rows.map((row) => scoped(row, row.isSecret ? null : row.value));
    const input = { variables, groupIds: JSON.parse(found.groups) as string[], run: {}, secretKeys: [] };
    try {
      return compose(input, "trusted").map(withoutSecret);
    } catch (error) {
      throw error instanceof EnvironmentTooLarge ? new Refusal("too-large", `${error.message}.`) : error;
    }
  },
});
