import { and, eq } from "drizzle-orm";
import * as z from "zod/mini";
import { pipeline, repository } from "../../db/schema.ts";
import {
  type ComposedEntry,
  compose,
  EnvironmentTooLarge,
  type ScopedVariable,
  withoutSecret,
} from "../../domain/compose.ts";
import { allowsRef } from "../../pipeline/graph/group-protection.ts";
import { atMost } from "../../protocol/checks.ts";
import { PathId } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { EnvironmentEntry } from "../../protocol/pipeline.ts";
import { isOwn } from "../core/record.ts";
import { notFound, Refusal } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { groupsOfPipeline, variablesOfBuild } from "./variable-scopes.ts";
import type { VariableRow } from "./variables.ts";

/**
 * Returns a stored row in the form that `compose` accepts, with its opened value. The value is null if the caller may
 * not see it.
 */
export const scoped = <V extends string | null>(row: VariableRow, value: V): ScopedVariable<V> => {
  const { id, scope, ownerId, key, isSecret, isActive, allowOverride, version, fileEncoding: encoding } = row;
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
    ...(encoding && { file: { encoding, name: row.fileName } }),
  };
};

const toPreview = ({ file, ...entry }: ComposedEntry<string | null>) => ({
  ...withoutSecret(entry),
  ...(file && { isFile: true, fileEncoding: file.encoding, fileName: file.name ?? entry.key }),
});

/**
 * Returns the environment that a build of the pipeline would have. Each key has its winning variable and the variables
 * that it overrides. Includes a protected group as for an approved job on the branch that names the group. An untrusted
 * build never gets the group.
 */
export const previewEnvironment = verb({
  access: { role: "viewer" },
  params: PathId,
  query: z.strictObject({
    branch: z.optional(z.string().check(atMost(LIMITS.branchCharacters))),
    groups: z.optional(z.string().check(atMost(LIMITS.filterCharacters))),
    trust: z.optional(z.enum(["trusted", "untrusted"])),
  }),
  output: z.array(EnvironmentEntry),
  async run(context, { params, query }) {
    const { db, orgId } = context;
    const isThis = isOwn(context, pipeline, params.id);
    const owner = db.sql.select({ id: pipeline.repoId }).from(pipeline).where(isThis);
    const ofRepository = and(eq(repository.id, pipeline.repoId), eq(repository.orgId, orgId));
    const [[pipelineRow], rows, groups] = await db.run(
      db.sql
        .select({ branch: repository.defaultBranch })
        .from(pipeline)
        .leftJoin(repository, ofRepository)
        .where(isThis),
      variablesOfBuild(db.sql, orgId, owner, params.id),
      groupsOfPipeline(db.sql, orgId, params.id),
    );
    if (!pipelineRow) throw notFound();
    const groupNames = (query.groups ?? "").split(",").map((name) => name.trim());
    const branch = query.branch ?? pipelineRow.branch ?? "";
    const isOpen = ({ name, protection }: (typeof groups)[number]) =>
      protection === null ||
      (query.trust !== "untrusted" && groupNames.includes(name ?? "") && allowsRef(protection, branch));
    const groupIds = groups.filter(isOpen).flatMap(({ id }) => id ?? []);
    const variables = rows.map((row) => scoped(row, row.isSecret ? null : row.value));
    const input = { variables, groupIds, run: {}, secretKeys: [] };
    try {
      return compose(input, query.trust ?? "trusted").map(toPreview);
    } catch (error) {
      throw error instanceof EnvironmentTooLarge ? new Refusal("too-large", `${error.message}.`) : error;
    }
  },
});
