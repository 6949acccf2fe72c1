import { and, eq, getTableColumns, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { ensure } from "../../db/guard.ts";
import { pipelineGroup, variable, variableGroup } from "../../db/schema.ts";
import { problemsOfList } from "../../pipeline/triggers/triggers.ts";
import { PathId } from "../../protocol/common.ts";
import { Group, GroupChange, GroupFilter, type GroupProtection, NewGroup } from "../../protocol/group.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { includesRole } from "../../protocol/token.ts";
import { commit, ensureRoom } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { listing, NO_LIMIT, toPage } from "../core/listing.ts";
import { deleteRow, findOne, makeGetter, nextVersion, updateRow } from "../core/record.ts";
import { invalidFields, Refusal } from "../core/refusal.ts";
import { checkOwnOrg, makeUpdateSchema, makeView, verb, versioned, writablePart } from "../core/verb.ts";
import { LISTED, variableRecord } from "./variables.ts";

type Row = typeof variableGroup.$inferSelect;

const variableCount = sql<number>`(SELECT count(*) FROM variable AS v
  WHERE v.org_id = variable_group.org_id AND v.scope = 'group' AND v.owner_id = variable_group.id)`.as("count");
const COLUMNS = { ...getTableColumns(variableGroup), variableCount };

const groupRecord = makeView(Group);

type Protection = GroupProtection | null | undefined;

/** Checks a protection's patterns. @throws Refusal invalid, with the place of each invalid pattern */
const checkPatterns = (protection: Protection): void => {
  const { branches, tags } = protection ?? {};
  const problems = [
    ...problemsOfList(["branches"], branches ?? undefined, "ref"),
    ...problemsOfList(["tags"], tags ?? undefined, "ref"),
  ];
  const errors = problems.map(({ path, detail }) => ({ pointer: ["/protection", ...path].join("/"), detail }));
  if (errors.length > 0) throw invalidFields(errors);
};

/**
 * Checks that the caller may give each approval that a protection requires. A caller who may not approve may not remove
 * the protection either.
 * @throws Refusal forbidden
 */
const checkMayProtect = (context: Context, ...protections: Protection[]): void => {
  const { role } = context.admitted;
  const approvals = protections.flatMap((protection) => protection?.approval ?? []);
  if (approvals.every((approval) => role !== null && includesRole(role, approval))) return;
  throw new Refusal("forbidden", "This protection requires a higher role than the token has.");
};

const sameName = (context: Context, name: string) =>
  context.db.sql
    .select({ id: variableGroup.id })
    .from(variableGroup)
    .where(and(eq(variableGroup.orgId, context.orgId), eq(variableGroup.name, name)));

const groups = listing(variableGroup, COLUMNS, { filters: { name: (name) => eq(variableGroup.name, name) } });

/** The most variables on a page of groups: as many as on a page of variables. */
const MOST_VARIABLES = LIMITS.pageLength;

const isComplete = ({ variableCount }: { variableCount: number }): boolean => variableCount <= MOST_VARIABLES;

/** Returns how many of the groups fit on a page with their variables. A group that fits on no page needs no room. */
const countFitting = (rows: { variableCount: number }[]): number => {
  let variables = 0;
  const end = rows.findIndex((row) => {
    if (isComplete(row)) variables += row.variableCount;
    return variables > MOST_VARIABLES;
  });
  return end === -1 ? rows.length : end;
};

/** Selects the ids of the page's groups whose variables the page has. It agrees with `countFitting`. */
const completeIds = ({ orgId }: Context, { name, cursor, limit = NO_LIMIT }: z.infer<typeof GroupFilter>) => {
  const isNamed = name ? sql`AND g.name = ${name}` : sql.empty();
  const isAfter = cursor ? sql`AND g.id > ${cursor}` : sql.empty();
  const counted = sql`SELECT g.id, (SELECT count(*) FROM variable AS v
      WHERE v.org_id = g.org_id AND v.scope = 'group' AND v.owner_id = g.id) AS n
    FROM variable_group AS g WHERE g.org_id = ${orgId} ${isNamed} ${isAfter} ORDER BY g.id LIMIT ${limit}`;
  const summed = sql`SELECT id, n, sum(iif(n <= ${MOST_VARIABLES}, n, 0)) OVER (ORDER BY id) AS total FROM (${counted})`;
  return sql`SELECT id FROM (${summed}) WHERE n BETWEEN 1 AND ${MOST_VARIABLES} AND total <= ${MOST_VARIABLES}`;
};

/** Selects the variables of a page of groups. `+` prevents a walk through all of the organization's ids. */
const variablesOf = (context: Context, query: z.infer<typeof GroupFilter>) =>
  context.db.sql
    .select(LISTED)
    .from(variable)
    .where(
      and(
        eq(variable.orgId, context.orgId),
        eq(variable.scope, "group"),
        sql`${variable.ownerId} IN (${completeIds(context, query)})`,
      ),
    )
    .orderBy(sql`+${variable.id}`);

export const listGroups = verb({
  access: { role: "viewer" },
  query: GroupFilter,
  output: z.array(Group),
  async run(context, { query }) {
    checkOwnOrg(context, query.orgId);
    const { db } = context;
    if (!query.includeVariables) {
      const [rows] = await db.run(groups(context, query));
      return toPage(rows, query, groupRecord);
    }
    const [rows, variables] = await db.run(groups(context, query), variablesOf(context, query));
    const limit = Math.min(query.limit ?? rows.length, countFitting(rows));
    const byGroup = Map.groupBy(variables, (row) => row.ownerId);
    return toPage(rows, { limit }, (row) => ({
      ...groupRecord(row),
      ...(isComplete(row) && { variables: (byGroup.get(row.id) ?? []).map(variableRecord) }),
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
    checkPatterns(body.protection);
    checkMayProtect(context, body.protection);
    const row: Row = {
      id: context.newId(),
      orgId: context.orgId,
      name: body.name,
      description: body.description ?? null,
      protection: body.protection ?? null,
      version: 1,
      createdAt: context.at,
      updatedAt: context.at,
    };
    await commit(
      context,
      { action: "group.create", subject: row.id, detail: { name: row.name, protection: row.protection } },
      [ensureRoom(context, "groups"), context.db.sql.insert(variableGroup).values(row)],
      sameName(context, row.name),
    );
    return versioned(groupRecord({ ...row, variableCount: 0 }), row.version);
  },
});

export const getGroup = makeGetter("viewer", variableGroup, COLUMNS, Group, groupRecord);

export const updateGroup = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: makeUpdateSchema(Group, GroupChange),
  output: Group,
  async run(context, { params, body }) {
    const row = await findOne(context, variableGroup, COLUMNS, params.id);
    const change = { ...writablePart(body, GroupChange, groupRecord(row)), ...nextVersion(context, row) };
    const next = { ...row, ...change };
    checkPatterns(change.protection);
    if (JSON.stringify(next.protection) !== JSON.stringify(row.protection))
      checkMayProtect(context, row.protection, next.protection);
    await commit(
      context,
      { action: "group.update", subject: row.id, detail: { name: next.name, protection: next.protection } },
      updateRow(context, variableGroup, row, change),
      sameName(context, next.name),
    );
    return versioned(groupRecord(next), next.version);
  },
});

export const deleteGroup = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await findOne(context, variableGroup, COLUMNS, params.id);
    const db = context.db.sql;
    const isUnused = sql`NOT EXISTS (SELECT 1 FROM ${pipelineGroup} WHERE ${pipelineGroup.groupId} = ${row.id})`;
    const ofGroup = and(eq(variable.orgId, context.orgId), eq(variable.scope, "group"), eq(variable.ownerId, row.id));
    await commit(
      context,
      { action: "group.delete", subject: row.id, detail: { name: row.name, variables: row.variableCount } },
      deleteRow(context, variableGroup, row, [ensure(db, "unused", isUnused), db.delete(variable).where(ofGroup)]),
    );
  },
});
