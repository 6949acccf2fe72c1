import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { ensure, ensureUnchanged } from "../db/guard.ts";
import { pipeline, pipelineGroup, repository, variable, variableGroup } from "../db/schema.ts";
import type { Database } from "../db/session.ts";
import { PathId } from "../protocol/common.ts";
import { NewPipeline, PIPELINE_DEFAULTS, Pipeline, PipelineChange, PipelineFilter } from "../protocol/pipeline.ts";
import type { Context } from "./core/context.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { notFound } from "./core/refusal.ts";
import { checkOwnOrg, updateOf, verb, writablePart } from "./core/verb.ts";
import { checkDefinition } from "./pipeline-check.ts";
import { buildsUnderWay } from "./repositories.ts";

export type PipelineRow = typeof pipeline.$inferSelect;

/** A pipeline's groups as a JSON array, in order. */
export const groupIdsOf = sql<string>`(SELECT json_group_array(group_id) FROM
  (SELECT group_id FROM pipeline_group WHERE pipeline_id = pipeline.id ORDER BY position))`.as("groups");

export const pipelineRecord = ({ version: _, ...row }: PipelineRow, groupIds: string[]): Pipeline => {
  const { id, orgId, repoId, name, configPath, definition, ...rest } = row;
  return { id, orgId, repoId, name, configPath, definition, groupIds, ...rest };
};

export const onePipeline = (context: Context, id: string) =>
  and(eq(pipeline.orgId, context.orgId), eq(pipeline.id, id));

const find = async (context: Context, id: string): Promise<{ row: PipelineRow; groupIds: string[] }> => {
  const query = context.db.sql
    .select({ row: pipeline, groups: groupIdsOf })
    .from(pipeline)
    .where(onePipeline(context, id));
  const [[found]] = await context.db.run(query);
  if (!found) throw notFound();
  context.checkVersion(found.row.version);
  return { row: found.row, groupIds: JSON.parse(found.groups) };
};

/** Holds while each of the groups is one of the organization. */
const groupsExist = (context: Context, groupIds: string[]): SQL => sql`(SELECT count(*) FROM ${variableGroup}
  WHERE ${variableGroup.orgId} = ${context.orgId}
  AND ${variableGroup.id} IN (SELECT value FROM json_each(${JSON.stringify(groupIds)}))) = ${groupIds.length}`;

const attach = (db: Database, pipelineId: string, groupIds: string[]) =>
  db.insert(pipelineGroup).select(sql`SELECT ${pipelineId}, key, value FROM json_each(${JSON.stringify(groupIds)})`);

const sameName = (context: Context, { repoId, name }: PipelineRow) =>
  context.db.sql
    .select({ id: pipeline.id })
    .from(pipeline)
    .where(and(eq(pipeline.repoId, repoId), eq(pipeline.name, name), eq(pipeline.orgId, context.orgId)));

export const createPipeline = verb({
  access: { role: "maintainer" },
  body: NewPipeline,
  output: Pipeline,
  async run(context, { body }) {
    await context.admit();
    checkOwnOrg(context, body.orgId);
    checkDefinition(body.definition);
    const groupIds = body.groupIds ?? [];
    const row: PipelineRow = {
      ...{ id: context.newId(), orgId: context.orgId, repoId: body.repoId, name: body.name },
      configPath: body.configPath ?? PIPELINE_DEFAULTS.configPath,
      definition: body.definition ?? PIPELINE_DEFAULTS.definition,
      requires: body.requires ?? {},
      timeoutSeconds: body.timeoutSeconds ?? PIPELINE_DEFAULTS.timeoutSeconds,
      maxParallel: body.maxParallel ?? PIPELINE_DEFAULTS.maxParallel,
      maxAttempts: body.maxAttempts ?? PIPELINE_DEFAULTS.maxAttempts,
      isActive: body.isActive ?? true,
      ...{ version: 1, createdAt: context.at, updatedAt: context.at },
    };
    const db = context.db.sql;
    const repoExists = sql`EXISTS (SELECT 1 FROM ${repository} WHERE ${repository.id} = ${row.repoId} AND ${repository.orgId} = ${context.orgId})`;
    const first = sql`NOT EXISTS (SELECT 1 FROM ${pipeline} WHERE ${pipeline.repoId} = ${row.repoId} AND ${pipeline.id} <> ${row.id})`;
    const becomeDefault = db
      .update(repository)
      .set({ defaultPipelineId: row.id, version: sql`${repository.version} + 1`, updatedAt: context.at })
      .where(and(eq(repository.id, row.repoId), sql`${repository.defaultPipelineId} IS NULL`, first));
    await context.write(
      { action: "pipeline.create", subject: row.id, detail: auditDetail(row, groupIds) },
      [
        ensure(db, "owner_exists", sql`${repoExists} AND ${groupsExist(context, groupIds)}`),
        db.insert(pipeline).values(row),
        attach(db, row.id, groupIds),
        becomeDefault,
      ],
      sameName(context, row),
    );
    context.version = row.version;
    return pipelineRecord(row, groupIds);
  },
});

const auditDetail = ({ repoId, name, isActive }: PipelineRow, groupIds: string[]) => ({
  repoId,
  name,
  isActive,
  groupIds,
});

const pipelines = listing(
  pipeline,
  { ...getTableColumns(pipeline), groups: groupIdsOf },
  { filters: { repoId: (id) => eq(pipeline.repoId, id), name: (name) => eq(pipeline.name, name) } },
);

export const listPipelines = verb({
  access: { role: "viewer" },
  query: PipelineFilter,
  output: z.array(Pipeline),
  async run(context, { query }) {
    const [rows] = await context.db.run(pipelines(context, query));
    return pageOf(context, rows, query).map(({ groups, ...row }) => pipelineRecord(row, JSON.parse(groups)));
  },
});

export const getPipeline = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Pipeline,
  async run(context, { params }) {
    const { row, groupIds } = await find(context, params.id);
    return pipelineRecord(row, groupIds);
  },
});

export const updatePipeline = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: updateOf(Pipeline, PipelineChange),
  output: Pipeline,
  async run(context, { params, body }) {
    const { row, groupIds: before } = await find(context, params.id);
    const { groupIds = before, ...change } = writablePart(body, PipelineChange, pipelineRecord(row, before));
    checkDefinition(change.definition);
    const next = { ...row, ...change, version: row.version + 1, updatedAt: context.at };
    const db = context.db.sql;
    await context.write(
      { action: "pipeline.update", subject: row.id, detail: auditDetail(next, groupIds) },
      [
        ensure(db, "owner_exists", groupsExist(context, groupIds)),
        ensureUnchanged(db, pipeline, row),
        db.update(pipeline).set(next).where(onePipeline(context, row.id)),
        db.delete(pipelineGroup).where(eq(pipelineGroup.pipelineId, row.id)),
        attach(db, row.id, groupIds),
      ],
      sameName(context, next),
    );
    context.version = next.version;
    return pipelineRecord(next, groupIds);
  },
});

export const deletePipeline = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const { row, groupIds } = await find(context, params.id);
    if (await (await context.pool()).hasLiveBuilds({ pipelineId: row.id })) throw buildsUnderWay();
    const db = context.db.sql;
    const owned = and(eq(variable.orgId, context.orgId), eq(variable.scope, "pipeline"), eq(variable.ownerId, row.id));
    const noDefault = { defaultPipelineId: null, version: sql`${repository.version} + 1` };
    const isDefault = and(eq(repository.id, row.repoId), eq(repository.defaultPipelineId, row.id));
    await context.write({ action: "pipeline.delete", subject: row.id, detail: auditDetail(row, groupIds) }, [
      ensureUnchanged(db, pipeline, row),
      db.delete(variable).where(owned),
      db.delete(pipelineGroup).where(eq(pipelineGroup.pipelineId, row.id)),
      db.update(repository).set(noDefault).where(isDefault),
      db.delete(pipeline).where(onePipeline(context, row.id)),
    ]);
  },
});
