import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { ensure } from "../../db/guard.ts";
import type { Database } from "../../db/query.ts";
import { organization, pipeline, repository, variable, variableGroup } from "../../db/schema.ts";
import { variableContext } from "../../domain/seal-context.ts";
import { isBase64, secretWarnings } from "../../domain/variable-value.ts";
import { PathId } from "../../protocol/common.ts";
import { byteSize, LIMITS } from "../../protocol/limits.ts";
import {
  type FileEncoding,
  NewVariable,
  type Scope,
  Variable,
  VariableChange,
  VariableFilter,
} from "../../protocol/variable.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { listing, toPage } from "../core/listing.ts";
import { deleteRow, findOne, makeGetter, nextVersion, updateRow } from "../core/record.ts";
import { invalid, Refusal } from "../core/refusal.ts";
import { checkOwnOrg, makeUpdateSchema, makeView, verb, versioned, writablePart } from "../core/verb.ts";

type FileColumns = Pick<typeof variable.$inferSelect, "fileEncoding" | "fileName">;

/** The fields of a request for a file variable. An omitted field stays unchanged. */
interface FileFields {
  isFile?: boolean | null | undefined;
  fileEncoding?: FileEncoding | null | undefined;
  fileName?: string | null | undefined;
}

const NO_FILE: FileColumns = { fileEncoding: null, fileName: null };

/**
 * Returns a variable's columns after a request.
 * @throws Refusal invalid if a variable that is not a file gets a file's field
 */
const fileColumns = (fields: FileFields, before: FileColumns = NO_FILE): FileColumns => {
  const { isFile = null, fileEncoding = null, fileName = before.fileName } = fields;
  if (isFile ?? before.fileEncoding !== null)
    return { fileEncoding: fileEncoding ?? before.fileEncoding ?? "text", fileName };
  for (const field of ["fileEncoding", "fileName"] as const)
    if (fields[field] != null) throw invalid(`/${field}`, "requires isFile");
  return NO_FILE;
};

/** Checks a value's encoding. @throws Refusal invalid for a value that is not in the file's encoding */
const checkEncoding = ({ fileEncoding }: FileColumns, value: string): void => {
  if (fileEncoding === "base64" && !isBase64(value)) throw invalid("/value", "must be base64 with padding");
};

/** Returns a file variable's fields for records and the audit. Returns no fields for other variables. */
const fileFields = ({ fileEncoding, fileName }: FileColumns) =>
  fileEncoding === null
    ? { isFile: undefined, fileEncoding: undefined, fileName: undefined }
    : { isFile: true, fileEncoding, fileName };

export type VariableRow = typeof variable.$inferSelect;
const COLUMNS = getTableColumns(variable);
const { sealed: _, sealedVersion: __, ...shown } = COLUMNS;
/** The columns of a record. A list reads no sealed value. */
export const LISTED = shown;
type ListedRow = Omit<VariableRow, "sealed" | "sealedVersion">;

const OWNER_FIELDS = { repository: "repoId", group: "groupId", pipeline: "pipelineId" } as const;

const view = makeView(Variable);

export const variableRecord = (row: ListedRow): Variable => {
  const ownerIn = (scope: Scope) => (row.scope === scope ? row.ownerId : null);
  return view({
    ...row,
    value: row.isSecret ? undefined : (row.value ?? ""),
    ...fileFields(row),
    repoId: ownerIn("repository"),
    groupId: ownerIn("group"),
    pipelineId: ownerIn("pipeline"),
  });
};

const checkValue = (value: string, isSecret: boolean): void => {
  if (new TextEncoder().encode(value).length > LIMITS.valueBytes) {
    throw new Refusal("too-large", `A value may have at most ${byteSize(LIMITS.valueBytes)} of UTF-8.`);
  }
  if (isSecret && value === "") throw invalid("/value", "must not be empty for a secret");
};

/**
 * Returns the id of the scope's owner. Each scope has one field for its owner.
 * @throws Refusal invalid for a missing or extra field
 */
const chooseOwner = (context: Context, body: z.infer<typeof NewVariable>): string => {
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

/** Returns a condition that holds while the scope's owner exists in the organization. */
const ownerExists = (scope: Scope, orgId: string, ownerId: string): SQL => {
  if (scope === "organization") return sql`1`;
  const table = OWNER_TABLES[scope];
  return sql`EXISTS (SELECT 1 FROM ${table} WHERE ${table.id} = ${ownerId} AND ${table.orgId} = ${orgId})`;
};

/** Returns the row with a new value. Seals the value if the variable is a secret. */
const withValue = async (context: Context, row: VariableRow, value: string): Promise<VariableRow> => {
  if (!row.isSecret) return { ...row, value, sealed: null };
  const secret = { ...row, value: null, sealedVersion: row.version };
  return { ...secret, sealed: await context.keys.seal(value, variableContext(secret)) };
};

/**
 * Returns a condition that holds while the organization has room for another variable. A separate count would read as
 * many rows.
 */
const hasRoom = (orgId: string): SQL =>
  sql`(SELECT ${organization.variableCount} FROM ${organization} WHERE ${organization.id} = ${orgId}) < ${LIMITS.variables}`;

const auditDetail = ({ key, scope, ownerId, isSecret, isActive, version, ...row }: VariableRow) => ({
  key,
  scope,
  ownerId,
  isSecret,
  isActive,
  version,
  ...fileFields(row),
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
    const ownerId = chooseOwner(context, body);
    checkValue(body.value, isSecret);
    const file = fileColumns(body);
    checkEncoding(file, body.value);
    const empty: VariableRow = {
      id: context.newId(),
      orgId: context.orgId,
      scope,
      ownerId,
      key,
      value: null,
      sealed: null,
      sealedVersion: 0,
      isSecret,
      description: body.description ?? null,
      isActive: body.isActive ?? true,
      allowOverride: body.allowOverride ?? true,
      version: 1,
      createdAt: context.at,
      updatedAt: context.at,
      lastUsedAt: null,
      lastUsedBy: null,
      ...file,
    };
    const row = await withValue(context, empty, body.value);
    const db = context.db.sql;
    await commit(
      context,
      { action: "variable.create", subject: row.id, detail: auditDetail(row) },
      [
        ensure(db, "owner_exists", ownerExists(scope, context.orgId, ownerId)),
        ensure(db, "within_limit", hasRoom(context.orgId)),
        db.insert(variable).values(row),
      ],
      sameKey(db, row),
    );
    return versioned({ ...variableRecord(row), ...findWarnings(row, body.value) }, row.version);
  },
});

/** Returns warnings about a secret's new value. An unchanged value causes no warnings. */
const findWarnings = (row: VariableRow, newValue: string | undefined) => {
  const warnings = row.isSecret && newValue !== undefined ? secretWarnings(newValue) : [];
  return warnings.length > 0 ? { warnings } : {};
};

const variables = listing(variable, LISTED, {
  filters: {
    scope: (scope) => eq(variable.scope, scope),
    isActive: (isActive) => eq(variable.isActive, isActive),
    key: (key) => eq(variable.key, key),
    repoId: (id) => and(eq(variable.scope, "repository"), eq(variable.ownerId, id)),
    groupId: (id) => and(eq(variable.scope, "group"), eq(variable.ownerId, id)),
    pipelineId: (id) => and(eq(variable.scope, "pipeline"), eq(variable.ownerId, id)),
  },
  selective: ["scope", "repoId", "groupId", "pipelineId"],
});

export const listVariables = verb({
  access: { role: "viewer" },
  query: VariableFilter,
  output: z.array(Variable),
  async run(context, { query }) {
    checkOwnOrg(context, query.orgId);
    const isActive = query.includeInactive ? undefined : true;
    const [rows] = await context.db.run(variables(context, { ...query, isActive }));
    return toPage(rows, query, variableRecord);
  },
});

export const getVariable = makeGetter("viewer", variable, COLUMNS, Variable, variableRecord);

/**
 * Returns a stored variable's value. Opens the value if the variable is a secret.
 * @throws Damaged; Refusal keyring-unavailable
 */
export const storedValue = (context: Context, row: VariableRow): Promise<string> | string =>
  row.isSecret ? context.keys.open(row.sealed ?? "", variableContext(row)) : (row.value ?? "");

/**
 * Returns the changed row with its value. A seal is bound to the variable's key, so the service reseals a renamed
 * secret. `newValue` is the value that `secretWarnings` has not checked yet: a new value, or the value of a plain
 * variable that becomes a secret.
 */
const changedValue = async (context: Context, row: VariableRow, next: VariableRow, value: string | undefined) => {
  if (value !== undefined) return { row: await withValue(context, next, value), newValue: value };
  const isResealed = next.isSecret !== row.isSecret || (row.isSecret && next.key !== row.key);
  if (!isResealed && next.fileEncoding === row.fileEncoding) return { row: next, newValue: undefined };
  const plainValue = await storedValue(context, row);
  checkValue(plainValue, next.isSecret);
  checkEncoding(next, plainValue);
  return { row: await withValue(context, next, plainValue), newValue: row.isSecret ? undefined : plainValue };
};

export const updateVariable = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: makeUpdateSchema(Variable, VariableChange),
  output: Variable,
  async run(context, { params, body }) {
    const row = await findOne(context, variable, COLUMNS, params.id);
    const { value, isFile, ...change } = writablePart(body, VariableChange, variableRecord(row));
    const next = { ...row, ...change, ...fileColumns({ isFile, ...change }, row), ...nextVersion(context, row) };
    if (row.isSecret && !next.isSecret && value === undefined) {
      throw invalid("/isSecret", "a secret can become a plain variable only with a new value");
    }
    if (value !== undefined) {
      checkValue(value, next.isSecret);
      checkEncoding(next, value);
    }
    const { row: changed, newValue } = await changedValue(context, row, next, value);
    // A hand-out may have written these two columns meanwhile. They are not part of the version.
    const { lastUsedAt: _, lastUsedBy: __, ...columns } = changed;
    const detail = { ...auditDetail(changed), valueChanged: value !== undefined };
    await commit(
      context,
      { action: "variable.update", subject: row.id, detail },
      updateRow(context, variable, row, columns),
      sameKey(context.db.sql, changed),
    );
    return versioned({ ...variableRecord(changed), ...findWarnings(changed, newValue) }, changed.version);
  },
});

export const deleteVariable = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await findOne(context, variable, COLUMNS, params.id);
    await commit(
      context,
      { action: "variable.delete", subject: row.id, detail: auditDetail(row) },
      deleteRow(context, variable, row),
    );
  },
});
