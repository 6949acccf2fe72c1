import type * as z from "zod/mini";
import { closestName } from "../../domain/closest-name.ts";
import { type FieldError, invalidFields } from "./refusal.ts";

type Parsed<T> = { success: true; data: T } | { success: false; error: z.core.$ZodError };
interface Inner {
  _zod: { def: { innerType?: Inner; in?: Inner; shape?: Record<string, Inner>; element?: Inner } };
}

/** Returns the object or array under a schema's `optional`, `nullish`, `pipe` and the like. */
const unwrapped = (schema: Inner): Inner["_zod"]["def"] => {
  const { def } = schema._zod;
  const inner = def.innerType ?? def.in;
  return inner ? unwrapped(inner) : def;
};

/**
 * Returns the part of a path that the schema names. Cuts off a record's key, because the client chose it and it may be
 * secret.
 */
const namedPath = (path: PropertyKey[], schema: Inner): PropertyKey[] => {
  const [part, ...rest] = path;
  if (part === undefined) return [];
  const { shape, element } = unwrapped(schema);
  const inner = element ?? (shape && Object.hasOwn(shape, part) ? shape[String(part)] : undefined);
  return inner ? [part, ...namedPath(rest, inner)] : [];
};

/** Returns a JSON pointer (RFC 6901). */
const toPointer = (path: PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Describes an issue. Replaces zod's messages that quote the input, because answers never repeat the input. */
const describeIssue = (issue: z.core.$ZodIssue, schema: Inner): string => {
  switch (issue.code) {
    case "unrecognized_keys": {
      const fields = issue.path.length === 0 ? Object.keys(unwrapped(schema).shape ?? {}) : [];
      const meant = issue.keys.map((key) => closestName(key, fields)).filter((name) => name !== undefined);
      const hint = meant.length > 0 ? `did you mean ${meant.join(", ")}?` : `known fields are ${fields.join(", ")}`;
      return fields.length > 0 ? `has an unknown field: ${hint}` : "has an unknown field";
    }
    case "invalid_type":
      return issue.input === undefined && issue.path.length > 0
        ? `is required (${issue.expected})`
        : `must be ${issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_key":
      return `has a name that is not allowed: it ${issue.issues[0]?.message ?? "is not valid"}`;
    default:
      return issue.message;
  }
};

/** Finds texts with half of a surrogate pair. JSON can escape such a half, and D1 would not store it unchanged. */
const brokenTexts = (value: unknown, schema: Inner, path: PropertyKey[] = []): FieldError[] => {
  if (typeof value === "string") {
    if (value.isWellFormed()) return [];
    return [{ pointer: toPointer(namedPath(path, schema)), detail: "must be valid Unicode" }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => brokenTexts(inner, schema, [...path, name]));
};

/** Returns the parsed input. @throws Refusal invalid, naming each wrong field */
export const accepted = <T>(result: Parsed<T>, schema: z.ZodMiniType): T => {
  const inner = schema as unknown as Inner;
  const errors = result.success
    ? brokenTexts(result.data, inner)
    : result.error.issues.map((issue) => ({
        pointer: toPointer(namedPath(issue.path, inner)),
        detail: describeIssue(issue, inner),
      }));
  if (!result.success || errors.length > 0) throw invalidFields(errors);
  return result.data;
};
