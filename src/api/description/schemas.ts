import * as z from "zod/mini";
import * as protocol from "./protocol.ts";

/**
 * Enums, as schemas or as fields, that may get new values in answers. The description marks them with
 * `x-extensible-enum`. A client treats an unknown value as "other".
 */
export const GROWING: string[] = [
  "AgentCode",
  "AgentStatus",
  "BuildEvent",
  "BuildReason",
  "BuildStatus",
  "HostKind",
  "JobStatus",
  "Origin",
  "Platform",
  "StepStatus",
  "TokenKind",
  "WaitCode",
  "Build.trigger",
  "Cause.kind",
  "Connection.auth",
  "Credential.kind",
  "Heartbeat.reason",
  "JobCredential.kind",
  "Problem.type",
  "Variable.warnings",
];

/* The part of OpenAPI 3.1 that the description uses. */

export type Reference = { $ref: string };

export interface Media {
  schema: JsonSchema;
  examples?: Record<string, { summary: string; value: unknown }>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface Response {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response | Reference>;
}

export interface ApiDescription {
  openapi: "3.1.0";
  info: object;
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: Record<string, object>;
    parameters: Record<string, Parameter>;
    headers: Record<string, object>;
    responses: Record<string, Response>;
    schemas: Record<string, JsonSchema>;
  };
}

export type JsonSchema = { [keyword: string]: unknown } & {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  required?: string[];
};
export type Schemas = Record<string, JsonSchema>;

/** The schemas of the wire, by their exported names. */
const NAMED = Object.entries<unknown>(protocol).flatMap(([name, value]): [string, z.ZodMiniType][] =>
  value instanceof z.ZodMiniType ? [[name, value]] : [],
);

export const findSchemaName = (schema: unknown): string | undefined => NAMED.find(([, named]) => named === schema)?.[0];

const PLACE = "#/components/schemas/";
export const referenceTo = (name: string): JsonSchema => ({ $ref: PLACE + name });

/**
 * Removes details without information, such as patterns that repeat a format and the bounds of every whole number. Adds
 * a parameter's default.
 */
const plain = ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void => {
  const { type, defaultValue } = zodSchema._zod.def as { type: string; defaultValue?: unknown };
  if (type === "default") jsonSchema.default ??= typeof defaultValue === "boolean" ? `${defaultValue}` : defaultValue;
  if (jsonSchema.format === "uuid" || jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

const convert = (io: "input" | "output", unnamed: [string, z.ZodMiniType][]): Schemas => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of [...NAMED, ...unnamed]) registry.add(schema, { id });
  const options = { io, unrepresentable: "any" as const, override: plain, uri: (id: string) => PLACE + id };
  const { schemas } = z.toJSONSchema(registry, options as never) as unknown as { schemas: Schemas };
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]));
};

/** Removes the upper bound of codes that may get new values in answers. */
const unbounded = (schemas: Schemas): Schemas => {
  for (const name of GROWING) delete schemas[name]?.maximum;
  return schemas;
};

/** Allows unknown fields in answers, because later releases may add fields. Clients ignore unknown fields. */
const opened = <T>(schema: T): T => {
  const isClosed = (name: string, value: unknown) => name === "additionalProperties" && value === false;
  return JSON.parse(JSON.stringify(schema, (name, value) => (isClosed(name, value) ? undefined : value))) as T;
};

export interface WireSchemas {
  schemas: Schemas;
  /** Returns the document's name for a schema's sent form. */
  sentName(name: string): string;
}

/**
 * Returns the JSON Schemas of requests and answers, by name. They include the protocol's schemas, and the `requests`
 * and `answers` that it does not name. If a schema's two forms differ, the sent form is called `NameSent`.
 */
export const wireSchemas = (
  requests: [string, z.ZodMiniType][],
  answers: [string, z.ZodMiniType][],
  answerNames: string[],
): WireSchemas => {
  const inputs = convert("input", requests);
  const outputs = unbounded(opened(convert("output", answers)));
  const used = reach(answerNames.map(referenceTo), (reference) => outputs[reference.slice(PLACE.length)]);
  const differs = (name: string): boolean => JSON.stringify(inputs[name]) !== JSON.stringify(outputs[name]);
  const twoForms = new Set([...used].map((reference) => reference.slice(PLACE.length)).filter(differs));
  const sentName = (name: string): string => (twoForms.has(name) ? `${name}Sent` : name);
  const rename = (reference: string): string => PLACE + sentName(reference.slice(PLACE.length));
  const renamed = Object.entries(inputs).map(([name, schema]) => [sentName(name), renameReferences(schema, rename)]);
  return { schemas: { ...Object.fromEntries(renamed), ...pick(outputs, used) }, sentName };
};

const pick = (schemas: Schemas, references: Set<string>): Schemas =>
  Object.fromEntries(Object.entries(schemas).filter(([name]) => references.has(PLACE + name)));

/** Calls `see` for every `$ref` in a JSON value. */
const eachReference = (value: unknown, see: (reference: string) => void): void => {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "$ref" && typeof inner === "string") see(inner);
    else eachReference(inner, see);
  }
};

/** Returns every reference that `root` contains, directly or through the values that `resolve` returns. */
export const reach = (root: unknown, resolve: (reference: string) => unknown): Set<string> => {
  const reached = new Set<string>();
  const see = (reference: string): void => {
    if (reached.has(reference)) return;
    reached.add(reference);
    eachReference(resolve(reference), see);
  };
  eachReference(root, see);
  return reached;
};

/** Returns the JSON value with renamed references. */
const renameReferences = <T>(value: T, rename: (reference: string) => string): T => {
  const json = JSON.stringify(value, (name, inner) => (name === "$ref" ? rename(inner) : inner));
  return JSON.parse(json) as T;
};
