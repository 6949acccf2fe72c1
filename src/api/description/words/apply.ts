import type { Words } from "../documentation.ts";
import { GROWING, type JsonSchema, type Schemas } from "../schemas.ts";
import { AGENT_WORDS } from "./agents.ts";
import { ARTIFACT_WORDS, TEST_WORDS } from "./artifacts.ts";
import { BUILD_WORDS } from "./builds.ts";
import { CACHE_WORDS } from "./cache.ts";
import { CONNECTION_WORDS } from "./connections.ts";
import { JOB_WORDS } from "./jobs.ts";
import { OPERATION_WORDS } from "./operation.ts";
import { SERVICE_WORDS } from "./service.ts";
import { SOURCE_WORDS } from "./sources.ts";
import { VALUE_WORDS } from "./values.ts";

export const WORDS: Words = {
  ...VALUE_WORDS,
  ...AGENT_WORDS,
  ...BUILD_WORDS,
  ...JOB_WORDS,
  ...ARTIFACT_WORDS,
  ...TEST_WORDS,
  ...CACHE_WORDS,
  ...CONNECTION_WORDS,
  ...SOURCE_WORDS,
  ...SERVICE_WORDS,
  ...OPERATION_WORDS,
};

/**
 * Removes `Sent` from a schema's name. The document contains the schema's sent and answered forms, with the same words.
 */
const withoutSent = (name: string): string => name.replace(/Sent$/, "");

/** Calls `see` for every field of a schema, including nested ones, with its path. */
export const eachField = (
  schema: JsonSchema,
  see: (path: string, field: JsonSchema) => void,
  path: string = "",
): void => {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const inner = path === "" ? name : `${path}.${name}`;
    see(inner, field);
    eachField(field, see, inner);
  }
  const { items, additionalProperties: entries } = schema as { items?: JsonSchema; additionalProperties?: JsonSchema };
  if (items) eachField(items, see, `${path}[]`);
  if (typeof entries === "object") eachField(entries, see, `${path}{}`);
};

/**
 * Returns the name of the schema that describes a field: the field's own schema, or the one that this schema is `like`.
 */
export const findDescribingSchema = (schema: string, path: string): string | undefined => {
  const name = withoutSent(schema);
  if (WORDS[name]?.[path] !== undefined) return name;
  const { like } = WORDS[name] ?? {};
  return like === undefined ? undefined : findDescribingSchema(like, path);
};

const grow = (schema: JsonSchema): void => {
  Object.assign(schema.items ?? schema, { "x-extensible-enum": true });
  schema.description = `${schema.description} New values may be added.`;
};

/** Adds descriptions to all schemas and fields, and marks the enums that may get new values. */
export const putWords = (schemas: Schemas): void => {
  for (const [name, schema] of Object.entries(schemas)) {
    const words = WORDS[withoutSent(name)];
    if (words) schema.description = words.is;
    if (GROWING.includes(name)) grow(schema);
    eachField(schema, (path, field) => {
      const source = findDescribingSchema(name, path);
      if (source !== undefined) field.description = WORDS[source]?.[path];
      if (GROWING.includes(`${name}.${path}`)) grow(field);
    });
  }
};
