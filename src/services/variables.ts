import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { ensure, ensureUnchanged } from "../db/guard.ts";
import { pipeline, repository, variable, variableGroup } from "../db/schema.ts";
import type { Database } from "../db/session.ts";
import { variableContext } from "../domain/seal-context.ts";
import { secretWarnings } from "../domain/secret-warnings.ts";
import { PathId } from "../protocol/common.ts";
import { byteSize, LIMITS } from "../protocol/limits.ts";
import { NewVariable, type Scope, Variable, VariableChange, VariableFilter } from "../protocol/variable.ts";
import type { Context } from "./core/context.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { invalid, notFound, Refusal } from "./core/refusal.ts";
import { checkOwnOrg, updateOf, verb, writablePart } from "./core/verb.ts";

export type VariableRow = typeof variable.$inferSelect;

const OWNER_FIELDS = { repository: "repoId", group: "groupId", pipeline: "pipelineId" } as const;

export const variableRecord = (row: VariableRow): Variable => {
  const owned = (scope: Scope) => (row.scope === scope ? row.ownerId : null);
  return {
    ...{ id: row.id, key: row.key, isSecret: row.isSecret, scope: row.scope, orgId: row.orgId },
    ...(row.isSecret ? {} : { value: row.value ?? "" }),
    ...{ repoId: owned("repository"), groupId: owned("group"), pipelineId: owned("pipeline") },
    ...{ description: row.description, isActive: row.isActive, allowOverride: row.allowOverride, version: row.version },
    ...{ createdAt: row.createdAt, updatedAt: row.updatedAt, lastUsedAt: row.lastUsedAt, lastUsedBy: row.lastUsedBy },
  };
};

const checkValue = (value: string, isSecret: boolean): void => {
  if (new TextEncoder().encode(value).length > LIMITS.valueBytes) {
    throw new Refusal("too-large", `A value may have at most ${byteSize(LIMITS.valueBytes)} of UTF-8.`);
  }
  if (isSecret && value === "") throw invalid("/value", "must not be empty for a secret");
};

/** The id of the scope's owner, from the one field that this scope has. @throws Refusal */
const ownerOf = (context: Context, body: z.infer<typeof NewVariable>): string => {
  checkOwnOrg(context, body.orgId);
  const field = body.scope === "organization" ? "orgId" : OWNER_FIELDS[body.scope];
  for (const other of Object.values(OWNER_FIELDS)) {
    if (other !== field && body[other] != null) throw invalid(`/${other}`, `does not belong to scope ${body.scope}`);
  }
  if (body.scope === "group" && body.orgId == null) throw invalid("/orgId", "is required for scope group");
  const owner = body[field];
  if (owner == null) throw invalid(`/${field}`, `is required for scope ${body.scope}`);
  return owner;
};

const OWNER_TABLES = { repository, group: variableGroup, pipeline };

/** Holds while the owner of a scope exists in the organization. */
const ownerExists = (scope: Scope, orgId: string, ownerId: string): SQL => {
  if (scope === "organization") return sql`1`;
  const table = OWNER_TABLES[scope];
  return sql`EXISTS (SELECT 1 FROM ${table} WHERE ${table.id} = ${ownerId} AND ${table.orgId} = ${orgId})`;
};

const store = async (context: Context, row: VariableRow, value: string): Promise<VariableRow> => {
  if (!row.isSecret) return { ...row, value, sealed: null };
  const resealed = { ...row, value: null, sealedVersion: row.version };
  return { ...resealed, sealed: await (await context.keyring()).seal(value, variableContext(resealed)) };
};

const auditDetail = ({ key, scope, ownerId, isSecret, isActive, version }: VariableRow) => ({
  ...{ key, scope, ownerId, isSecret, isActive, version },
});

const sameKey = (db: Database, { orgId, scope, ownerId, key }: VariableRow) =>
  db
    .select({ id: variable.id })
    .from(variable)
    .where(
      and(eq(variable.orgId, orgId), eq(variable.scope, scope), eq(variable.ownerId, ownerId), eq(variable.key, key)),
    );

export const createVariable = verb({
  access: { role: "maintainer" },
  body: NewVariable,
  output: Variable,
  async run(context, { body }) {
    await context.admit();
    const { key, isSecret, scope } = body;
    const ownerId = ownerOf(context, body);
    checkValue(body.value, isSecret);
    const fresh: VariableRow = {
      ...{
        id: context.newId(),
        orgId: context.orgId,
        scope,
        ownerId,
        key,
        value: null,
        sealed: null,
        sealedVersion: 0,
      },
      ...{ isSecret, description: body.description ?? null, isActive: body.isActive ?? true },
      ...{ allowOverride: body.allowOverride ?? true, version: 1, createdAt: context.at, updatedAt: context.at },
      ...{ lastUsedAt: null, lastUsedBy: null },
    };
    const row = await store(context, fresh, body.value);
    const db = context.db.sql;
    await context.write(
      { action: "variable.create", subject: row.id, detail: auditDetail(row) },
      [ensure(db, "owner_exists", ownerExists(scope, context.orgId, ownerId)), db.insert(variable).values(row)],
      sameKey(db, row),
    );
    context.version = row.version;
    return { ...variableRecord(row), ...warned(row, body.value) };
  },
});

const warned = (row: VariableRow, value: string | undefined) => {
  const warnings = row.isSecret && value !== undefined ? secretWarnings(value) : [];
  return warnings.length > 0 ? { warnings } : {};
};

const variables = listing(variable, getTableColumns(variable), {
  filters: {
    ...{ scope: (scope) => eq(variable.scope, scope), isActive: (isActive) => eq(variable.isActive, isActive) },
    key: (key) => eq(variable.key, key),
    repoId: (id) => and(eq(variable.scope, "repository"), eq(variable.ownerId, id)),
    groupId: (id) => and(eq(variable.scope, "group"), eq(variable.ownerId, id)),
    pipelineId: (id) => and(eq(variable.scope, "pipeline"), eq(variable.ownerId, id)),
  },
  finders: ["scope", "repoId", "groupId", "pipelineId"],
});

export const listVariables = verb({
  access: { role: "viewer" },
  query: VariableFilter,
  output: z.array(Variable),
  async run(context, { query }) {
    checkOwnOrg(context, query.orgId);
    const isActive = query.includeInactive ? undefined : true;
    const [rows] = await context.db.run(variables(context, { ...query, isActive }));
    return pageOf(context, rows, query).map(variableRecord);
  },
});

const one = (context: Context, id: string) => and(eq(variable.orgId, context.orgId), eq(variable.id, id));

const find = async (context: Context, id: string): Promise<VariableRow> => {
  const [[row]] = await context.db.run(context.db.sql.select().from(variable).where(one(context, id)));
  if (!row) throw notFound();
  context.checkVersion(row.version);
  return row;
};

export const getVariable = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Variable,
  run: async (context, { params }) => variableRecord(await find(context, params.id)),
});

export const updateVariable = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: updateOf(Variable, VariableChange),
  output: Variable,
  async run(context, { params, body }) {
    const row = await find(context, params.id);
    const { value, ...change } = writablePart(body, VariableChange, variableRecord(row));
    const next = { ...row, ...change, version: row.version + 1, updatedAt: context.at };
    if (row.isSecret && !next.isSecret && value === undefined) {
      throw invalid("/isSecret", "a secret becomes a plain variable only together with a new value");
    }
    if (value !== undefined) checkValue(value, next.isSecret);
    const moved = next.isSecret !== row.isSecret || (row.isSecret && next.key !== row.key);
    let changed: VariableRow = next;
    let shown = value;
    if (value !== undefined) changed = await store(context, next, value);
    else if (moved) {
      const kept = row.isSecret ? await context.open(row.sealed ?? "", variableContext(row)) : (row.value ?? "");
      checkValue(kept, next.isSecret);
      if (!row.isSecret) shown = kept;
      changed = await store(context, next, kept);
    }
    const db = context.db.sql;
    const { lastUsedAt: _, lastUsedBy: __, ...columns } = changed;
    await context.write(
      {
        action: "variable.update",
        subject: row.id,
        detail: { ...auditDetail(changed), valueChanged: value !== undefined },
      },
      [ensureUnchanged(db, variable, row), db.update(variable).set(columns).where(one(context, row.id))],
      sameKey(db, changed),
    );
    context.version = changed.version;
    return { ...variableRecord(changed), ...warned(changed, shown) };
  },
});

export const deleteVariable = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await find(context, params.id);
    await context.write({ action: "variable.delete", subject: row.id, detail: auditDetail(row) }, [
      ensureUnchanged(context.db.sql, variable, row),
      context.db.sql.delete(variable).where(one(context, row.id)),
    ]);
  },
});
