import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { ensure, ensureUnchanged } from "../db/guard.ts";
import { pipelineGroup, variable, variableGroup } from "../db/schema.ts";
import { PathId } from "../protocol/common.ts";
import { Group, GroupChange, GroupFilter, NewGroup } from "../protocol/group.ts";
import type { Context } from "./core/context.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { notFound } from "./core/refusal.ts";
import { checkOwnOrg, updateOf, verb, writablePart } from "./core/verb.ts";
import { variableRecord } from "./variables.ts";

type Row = typeof variableGroup.$inferSelect;

const record = ({ version: _, ...row }: Row, variableCount: number): Group => ({ ...row, variableCount });

const count = sql<number>`(SELECT count(*) FROM variable AS v
  WHERE v.org_id = variable_group.org_id AND v.scope = 'group' AND v.owner_id = variable_group.id)`.as("count");

const one = (context: Context, id: string) => and(eq(variableGroup.orgId, context.orgId), eq(variableGroup.id, id));

const find = async (context: Context, id: string): Promise<Row & { count: number }> => {
  const query = context.db.sql.select({ row: variableGroup, count }).from(variableGroup).where(one(context, id));
  const [[found]] = await context.db.run(query);
  if (!found) throw notFound();
  context.checkVersion(found.row.version);
  return { ...found.row, count: found.count };
};

const sameName = (context: Context, name: string) =>
  context.db.sql
    .select({ id: variableGroup.id })
    .from(variableGroup)
    .where(and(eq(variableGroup.orgId, context.orgId), eq(variableGroup.name, name)));

const groups = listing(
  variableGroup,
  { ...getTableColumns(variableGroup), count },
  { filters: { name: (name) => eq(variableGroup.name, name) } },
);

export const listGroups = verb({
  access: { role: "viewer" },
  query: GroupFilter,
  output: z.array(Group),
  async run(context, { query }) {
    checkOwnOrg(context, query.orgId);
    const { db } = context;
    if (!query.includeVariables) {
      const [rows] = await db.run(groups(context, query));
      return pageOf(context, rows, query).map(({ count, ...row }) => record(row, count));
    }
    const all = and(eq(variable.orgId, context.orgId), eq(variable.scope, "group"));
    const [rows, variables] = await db.run(
      groups(context, query),
      db.sql.select().from(variable).where(all).orderBy(asc(variable.id)),
    );
    const byGroup = Map.groupBy(variables, (row) => row.ownerId);
    return pageOf(context, rows, query).map(({ count, ...row }) => ({
      ...record(row, count),
      variables: (byGroup.get(row.id) ?? []).map(variableRecord),
    }));
  },
});

export const createGroup = verb({
  access: { role: "maintainer" },
  body: NewGroup,
  output: Group,
  async run(context, { body }) {
    await context.admit();
    checkOwnOrg(context, body.orgId);
    const row: Row = {
      ...{ id: context.newId(), orgId: context.orgId, name: body.name, description: body.description ?? null },
      ...{ version: 1, createdAt: context.at, updatedAt: context.at },
    };
    await context.write(
      { action: "group.create", subject: row.id, detail: { name: row.name } },
      [context.db.sql.insert(variableGroup).values(row)],
      sameName(context, row.name),
    );
    context.version = row.version;
    return record(row, 0);
  },
});

export const getGroup = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Group,
  async run(context, { params }) {
    const { count, ...row } = await find(context, params.id);
    return record(row, count);
  },
});

export const updateGroup = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: updateOf(Group, GroupChange),
  output: Group,
  async run(context, { params, body }) {
    const { count, ...row } = await find(context, params.id);
    const change = writablePart(body, GroupChange, record(row, count));
    const next = { ...row, ...change, version: row.version + 1, updatedAt: context.at };
    const db = context.db.sql;
    await context.write(
      { action: "group.update", subject: row.id, detail: { name: next.name } },
      [ensureUnchanged(db, variableGroup, row), db.update(variableGroup).set(next).where(one(context, row.id))],
      sameName(context, next.name),
    );
    context.version = next.version;
    return record(next, count);
  },
});

export const deleteGroup = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await find(context, params.id);
    const db = context.db.sql;
    const unused = sql`NOT EXISTS (SELECT 1 FROM ${pipelineGroup} WHERE ${pipelineGroup.groupId} = ${row.id})`;
    const mine = and(eq(variable.orgId, context.orgId), eq(variable.scope, "group"), eq(variable.ownerId, row.id));
    await context.write({ action: "group.delete", subject: row.id, detail: { name: row.name, variables: row.count } }, [
      ensureUnchanged(db, variableGroup, row),
      ensure(db, "unused", unused),
      db.delete(variable).where(mine),
      db.delete(variableGroup).where(one(context, row.id)),
    ]);
  },
});
