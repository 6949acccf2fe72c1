import type * as z from "zod/mini";

/** A word and a field that no release knows. */
export const WORD = "from-the-future";
export const FIELD = { fromTheFuture: { of: [1, "kind", null] } };
const CODE = 99;

type Schema = z.core.$ZodType;
/** A schema's parts, as zod itself stores them. */
interface Parts {
  type: string;
  shape?: Record<string, Schema>;
  element?: Schema;
  innerType?: Schema;
  checks?: { _zod: { def: { check: string } } }[];
}

/** Returns the schema under `optional`, `nullable` and `default`. */
const bare = (schema: Schema): Parts => {
  const parts = schema._zod.def as unknown as Parts;
  return parts.innerType ? bare(parts.innerType) : parts;
};

/**
 * Returns an answer as a future service could send it: unknown fields everywhere, an unknown word in every enum and an
 * unknown code in every bounded number. Adds each enum's path to `seen`.
 */
export const inTheFuture = (schema: Schema, value: unknown, seen: string[] = [], path = ""): unknown => {
  const { type, shape, element, checks } = bare(schema);
  if (type === "enum") {
    seen.push(path);
    return WORD;
  }
  if (type === "array" && element && Array.isArray(value))
    return value.map((item) => inTheFuture(element, item, seen, `${path}[]`));
  if (type === "object" && shape && typeof value === "object" && value !== null) {
    const known = Object.entries(value).map(([key, of]) => {
      const part = shape[key];
      return [key, part ? inTheFuture(part, of, seen, `${path}/${key}`) : of];
    });
    return { ...Object.fromEntries(known), ...FIELD };
  }
  const isCode = typeof value === "number" && checks?.some((check) => check._zod.def.check === "less_than");
  return isCode ? CODE : value;
};
