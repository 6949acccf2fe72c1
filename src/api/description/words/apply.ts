import type { JsonSchema, Schemas } from "../schemas.ts";
import { AGENTS } from "./agents.ts";
import { BUILDS } from "./builds.ts";
import { GROWING } from "./growing.ts";
import type { Words } from "./schema-words.ts";
import { SERVICE } from "./service.ts";
import { SOURCES } from "./sources.ts";
import { VALUES } from "./values.ts";
import { VARIABLES } from "./variables.ts";

export const WORDS: Words = { ...VALUES, ...AGENTS, ...BUILDS, ...SOURCES, ...VARIABLES, ...SERVICE };

/** Where a schema goes in and comes out and the sides differ, both have the same words. */
const baseOf = (name: string): string => name.replace(/Sent$/, "");

/** Calls `see` with every field in a schema and its path, those of inner objects included. */
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

/** The schema whose table has the words of a field: its own, or the one it shares words with. */
export const sourceOf = (schema: string, path: string): string | undefined => {
  const name = baseOf(schema);
  if (WORDS[name]?.fields?.[path] !== undefined) return name;
  const { like } = WORDS[name] ?? {};
  return like === undefined ? undefined : sourceOf(like, path);
};

const grow = (schema: JsonSchema): void => {
  Object.assign(schema.items ?? schema, { "x-extensible-enum": true });
  schema.description = `${schema.description} May grow.`;
};

/** Gives every schema and field its words, and marks enums that may grow. */
export const putWords = (schemas: Schemas): void => {
  for (const [name, schema] of Object.entries(schemas)) {
    const words = WORDS[baseOf(name)];
    if (words) schema.description = words.is;
    if (GROWING.includes(name)) grow(schema);
    eachField(schema, (path, field) => {
      const source = sourceOf(name, path);
      if (source !== undefined) field.description = WORDS[source]?.fields?.[path];
      if (GROWING.includes(`${name}.${path}`)) grow(field);
    });
  }
};
