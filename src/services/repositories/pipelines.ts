import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { ensure } from "../../db/guard.ts";
import type { Database } from "../../db/query.ts";
import {
  pipeline,
  pipelineGroup,
  pipelineHistory,
  repository,
  schedule,
  variable,
  variableGroup,
} from "../../db/schema.ts";
import { nameHostContext } from "../../githosts/core/build-origin.ts";
import { PathId } from "../../protocol/common.ts";
import { NewPipeline, PIPELINE_DEFAULTS, Pipeline, PipelineChange, PipelineFilter } from "../../protocol/pipeline.ts";
import { commit, ensureRoom } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { listing, toPage } from "../core/listing.ts";
import { deleteRow, findOne, makeGetter, nextVersion, updateRow } from "../core/record.ts";
import { checkOwnOrg, makeUpdateSchema, makeView, verb, versioned, writablePart } from "../core/verb.ts";
import { syncFileSchedules } from "../schedules/schedules-of-file.ts";
import { checkDefinition, checkOn } from "./pipeline-check.ts";
import { shownTriggers, snapshotOfDefinition } from "./pipeline-files.ts";
import { hasActiveBuilds } from "./repositories.ts";

type Row = typeof pipeline.$inferSelect;

/** A pipeline's groups as a JSON array, in order. */
const groupIdsOf = sql<string>`(SELECT json_group_array(group_id) FROM
  (SELECT group_id FROM pipeline_group WHERE pipeline_id = pipeline.id ORDER BY position))`.as("groups");

const COLUMNS = { ...getTableColumns(pipeline), groups: groupIdsOf };

const view = makeView(Pipeline);
const toRecord = (row: Row, groupIds: string[]): Pipeline =>
  view({ ...row, on: row.on as Pipeline["on"], triggers: shownTriggers(row), groupIds });
const pipelineRecord = ({ groups, ...row }: Row & { groups: string }): Pipeline => toRecord(row, JSON.parse(groups));

/** Returns a condition that holds while every group belongs to the organization. */
const groupsExist = (context: Context, groupIds: string[]): SQL => sql`(SELECT count(*) FROM ${variableGroup}
  WHERE ${variableGroup.orgId} = ${context.orgId}
  AND ${variableGroup.id} IN (SELECT value FROM json_each(${JSON.stringify(groupIds)}))) = ${groupIds.length}`;

const attach = (db: Database, pipelineId: string, groupIds: string[]) =>
  db.insert(pipelineGroup).select(sql`SELECT ${pipelineId}, key, value FROM json_each(${JSON.stringify(groupIds)})`);

const sameName = (context: Context, { repoId, name }: Row) =>
  context.db.sql
    .select({ id: pipeline.id })
    .from(pipeline)
    .where(and(eq(pipeline.repoId, repoId), eq(pipeline.name, name), eq(pipeline.orgId, context.orgId)));

const repositoryExists = ({ orgId }: Context, { repoId }: Row): SQL =>
  sql`EXISTS (SELECT 1 FROM ${repository} WHERE ${repository.id} = ${repoId} AND ${repository.orgId} = ${orgId})`;

/** Makes a repository's first pipeline its default one. */
const becomeDefault = (context: Context, { id, repoId }: Row) => {
  const isFirst = sql`NOT EXISTS (SELECT 1 FROM ${pipeline} WHERE ${pipeline.repoId} = ${repoId} AND ${pipeline.id} <> ${id})`;
  return context.db.sql
    .update(repository)
    .set({ defaultPipelineId: id, version: sql`${repository.version} + 1`, updatedAt: context.at })
    .where(and(eq(repository.id, repoId), sql`${repository.defaultPipelineId} IS NULL`, isFirst));
};

const auditDetail = (row: Row, groupIds: string[]) => {
  const { repoId, name, isActive } = row;
  const { source, builds, supersede } = shownTriggers(row);
  return { repoId, name, isActive, groupIds, triggers: { source, builds, supersede } };
};

export const createPipeline = verb({
  access: { role: "maintainer" },
  body: NewPipeline,
  output: Pipeline,
  async run(context, { body }) {
    await context.admit();
    checkOwnOrg(context, body.orgId);
    checkDefinition(body.definition);
    checkOn(body.on);
    const groupIds = body.groupIds ?? [];
    const id = context.newId();
    const fileSnapshot = await snapshotOfDefinition(context, body.definition ?? null);
    const schedules = fileSnapshot?.schedule.length
      ? (await syncFileSchedules(context, id, fileSnapshot.schedule)).statements
      : [];
    const row: Row = {
      id,
      orgId: context.orgId,
      repoId: body.repoId,
      name: body.name,
      configPath: body.configPath ?? PIPELINE_DEFAULTS.configPath,
      definition: body.definition ?? PIPELINE_DEFAULTS.definition,
      requires: body.requires ?? {},
      timeoutSeconds: body.timeoutSeconds ?? PIPELINE_DEFAULTS.timeoutSeconds,
      maxParallel: body.maxParallel ?? PIPELINE_DEFAULTS.maxParallel,
      maxAttempts: body.maxAttempts ?? PIPELINE_DEFAULTS.maxAttempts,
      on: body.on ?? null,
      fileSnapshot,
      hostContext: nameHostContext(body.name),
      supersede: body.supersede ?? "file",
      badgeGeneration: 0,
      isActive: body.isActive ?? true,
      version: 1,
      createdAt: context.at,
      updatedAt: context.at,
    };
    const db = context.db.sql;
    await commit(
      context,
      { action: "pipeline.create", subject: row.id, detail: auditDetail(row, groupIds) },
      [
        ensure(db, "owner_exists", sql`${repositoryExists(context, row)} AND ${groupsExist(context, groupIds)}`),
        ensureRoom(context, "pipelines"),
        db.insert(pipeline).values(row),
        ...schedules,
        attach(db, row.id, groupIds),
        becomeDefault(context, row),
      ],
      sameName(context, row),
    );
    return versioned(toRecord(row, groupIds), row.version);
  },
});

/** Returns the snapshot of a changed file or definition. Nothing is known yet about a changed file. */
const snapshotFor = async (context: Context, before: Row, next: Pick<Row, "configPath" | "definition">) => {
  const isSame = next.definition === before.definition && next.configPath === before.configPath;
  if (isSame) return { snapshot: {}, schedules: [] };
  const fileSnapshot = await snapshotOfDefinition(context, next.definition);
  const { statements } = await syncFileSchedules(context, before.id, fileSnapshot?.schedule ?? []);
  return { snapshot: { fileSnapshot }, schedules: statements };
};

const pipelines = listing(pipeline, COLUMNS, {
  filters: { repoId: (id) => eq(pipeline.repoId, id), name: (name) => eq(pipeline.name, name) },
});

export const listPipelines = verb({
  access: { role: "viewer" },
  query: PipelineFilter,
  output: z.array(Pipeline),
  async run(context, { query }) {
    const [rows] = await context.db.run(pipelines(context, query));
    return toPage(rows, query, pipelineRecord);
  },
});

export const getPipeline = makeGetter("viewer", pipeline, COLUMNS, Pipeline, pipelineRecord);

export const updatePipeline = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: makeUpdateSchema(Pipeline, PipelineChange),
  output: Pipeline,
  async run(context, { params, body }) {
    const row = await findOne(context, pipeline, COLUMNS, params.id);
    const before = pipelineRecord(row);
    // An agent may have sent the file since the client read the record.
    const { triggers = before.triggers } = body as Partial<Pipeline>;
    const { groupIds = before.groupIds, ...written } = writablePart(body, PipelineChange, { ...before, triggers });
    checkDefinition(written.definition);
    checkOn(written.on);
    const { snapshot, schedules } = await snapshotFor(context, row, { ...row, ...written });
    const change = { ...written, ...snapshot, ...nextVersion(context, row) };
    const next = { ...row, ...change };
    const db = context.db.sql;
    await commit(
      context,
      { action: "pipeline.update", subject: row.id, detail: auditDetail(next, groupIds) },
      [
        ensure(db, "owner_exists", groupsExist(context, groupIds)),
        ...updateRow(context, pipeline, row, change),
        ...schedules,
        db.delete(pipelineGroup).where(eq(pipelineGroup.pipelineId, row.id)),
        attach(db, row.id, groupIds),
      ],
      sameName(context, next),
    );
    return versioned(toRecord(next, groupIds), next.version);
  },
});

export const deletePipeline = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await findOne(context, pipeline, COLUMNS, params.id);
    if (await (await context.pool()).hasLiveBuilds({ pipelineId: row.id })) throw hasActiveBuilds();
    const db = context.db.sql;
    const owned = and(eq(variable.orgId, context.orgId), eq(variable.scope, "pipeline"), eq(variable.ownerId, row.id));
    const noDefault = { defaultPipelineId: null, version: sql`${repository.version} + 1` };
    const isDefault = and(eq(repository.id, row.repoId), eq(repository.defaultPipelineId, row.id));
    await commit(
      context,
      { action: "pipeline.delete", subject: row.id, detail: auditDetail(row, JSON.parse(row.groups)) },
      deleteRow(context, pipeline, row, [
        db.delete(variable).where(owned),
        db.delete(pipelineGroup).where(eq(pipelineGroup.pipelineId, row.id)),
        db.delete(schedule).where(eq(schedule.pipelineId, row.id)),
        db
          .delete(pipelineHistory)
          .where(and(eq(pipelineHistory.orgId, context.orgId), eq(pipelineHistory.pipelineId, row.id))),
        db.update(repository).set(noDefault).where(isDefault),
      ]),
    );
  },
});
