import type * as z from "zod/mini";
import { closestName } from "../../domain/closest-name.ts";
import { type FieldError, invalidFields } from "./refusal.ts";

type Parsed<T> = { success: true; data: T } | { success: false; error: z.core.$ZodError };
type ObjectSchema = { shape?: Record<string, unknown> };

const pointerOf = (path: PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The texts of zod that quote what was sent are replaced: no answer repeats input. */
const detailOf = (issue: z.core.$ZodIssue, schema: z.ZodMiniType): string => {
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = issue.path.length === 0 ? Object.keys((schema as ObjectSchema).shape ?? {}) : [];
      const meant = issue.keys.map((key) => closestName(key, known)).filter((name) => name !== undefined);
      const hint = meant.length > 0 ? `did you mean ${meant.join(", ")}?` : `known are ${known.join(", ")}`;
      return known.length > 0 ? `has an unknown field: ${hint}` : "has an unknown field";
    }
    case "invalid_type":
      return issue.input === undefined && issue.path.length > 0
        ? `is required (${issue.expected})`
        : `must be ${issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_key":
      return "has a name that is not allowed: letters, digits and _, not beginning with a digit or MILLRACE_";
    case "invalid_union":
      return "must be text, a number or a boolean";
    default:
      return issue.message;
  }
};

/** A name inside the body may be anything, a secret too: only our own fields' names are repeated. */
const errorAt = (path: PropertyKey[], detail: string): FieldError => ({
  pointer: pointerOf(path[0] === "envVariables" ? ["envVariables"] : path),
  detail,
});

/** Texts with half of a surrogate pair, which a \u escape can be and no database keeps as it is. */
const brokenTexts = (value: unknown, path: PropertyKey[] = []): FieldError[] => {
  if (typeof value === "string") return value.isWellFormed() ? [] : [errorAt(path, "must be valid Unicode")];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => brokenTexts(inner, [...path, name]));
};

/** What the schema made of an input. @throws Refusal invalid, naming each field that is wrong */
export const accepted = <T>(result: Parsed<T>, schema: z.ZodMiniType): T => {
  const errors = result.success
    ? brokenTexts(result.data)
    : result.error.issues.map((issue) => errorAt(issue.path, detailOf(issue, schema)));
  if (!result.success || errors.length > 0) throw invalidFields(errors);
  return result.data;
};
