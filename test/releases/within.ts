import type { JsonSchema, Reference } from "../../src/api/description/schemas.ts";

/** A schema with its description. */
export interface Side {
  schema: JsonSchema;
  resolve: <T extends object>(value: T | Reference) => T;
}
export type Direction = "sent" | "answered";

/** Keywords that do not restrict values. */
const WORDS = new Set(["description", "title", "examples", "readOnly", "x-extensible-enum", "$ref"]);
const JUDGED = new Set([
  ...["type", "anyOf", "enum", "const", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"],
  ...[
    "pattern",
    "allOf",
    "format",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "propertyNames",
    "default",
  ],
]);

/** Returns a text's patterns. Several patterns are in `allOf`. */
const patternsOf = ({ pattern, allOf = [] }: JsonSchema): unknown[] => {
  const several = allOf as JsonSchema[];
  if (several.some((one) => Object.keys(one).join() !== "pattern"))
    throw new Error("The comparison cannot judge allOf");
  return [pattern, ...several.map((one) => one.pattern)].filter((one) => one !== undefined);
};

/** Returns the possible forms of a value, each with at most one type. */
const formsOf = ({ schema, resolve }: Side): JsonSchema[] => {
  const { $ref: _, ...beside } = schema;
  const whole = schema.$ref ? { ...(resolve(schema as Reference) as JsonSchema), ...beside } : schema;
  const unknown = Object.keys(whole).filter((keyword) => !WORDS.has(keyword) && !JUDGED.has(keyword));
  if (unknown.length > 0) throw new Error(`The comparison cannot judge ${unknown.join(", ")}`);
  const { anyOf, type, ...rest } = whole as JsonSchema & { anyOf?: JsonSchema[] };
  if (anyOf) return anyOf.flatMap((one) => formsOf({ schema: one, resolve }));
  return type === undefined ? [rest] : [type].flat().map((one) => ({ ...rest, type: one }));
};

const valuesOf = ({ enum: values, const: value }: JsonSchema): unknown[] | undefined =>
  (values as unknown[] | undefined) ?? (value === undefined ? undefined : [value]);

const LEAST = ["minimum", "minLength", "minItems"];
const MOST = ["maximum", "maxLength", "maxItems"];

/** Returns what does not fit when a value of the form `narrow` meets the form `wide`. Ignores inner values. */
const plainly = (narrow: JsonSchema, wide: JsonSchema, direction: Direction): string[] => {
  const found: string[] = [];
  const grows = direction === "answered" && wide["x-extensible-enum"] === true;
  const number = (schema: JsonSchema, keyword: string) => schema[keyword] as number | undefined;
  const [some, all] = [valuesOf(narrow), valuesOf(wide)];
  if (all && !grows && !some?.every((value) => all.includes(value))) found.push(": enum");
  for (const keyword of LEAST) {
    const least = number(wide, keyword);
    if (least !== undefined && !grows && (number(narrow, keyword) ?? -Infinity) < least) found.push(`: ${keyword}`);
  }
  for (const keyword of MOST) {
    const most = number(wide, keyword);
    if (most !== undefined && !grows && (number(narrow, keyword) ?? Infinity) > most) found.push(`: ${keyword}`);
  }
  const had = patternsOf(narrow);
  if (patternsOf(wide).some((one) => !had.includes(one))) found.push(": pattern");
  if (wide.format !== undefined && wide.format !== narrow.format) found.push(": format");
  return found;
};

const fields = (narrow: Side, wide: Side, direction: Direction): string[] => {
  const found: string[] = [];
  const { properties: some = {}, required: given = [] } = narrow.schema;
  const { properties: all = {}, required: wanted = [] } = wide.schema;
  const isClosed = wide.schema.additionalProperties === false;
  for (const [name, property] of Object.entries(some)) {
    const other = all[name];
    if (other) {
      const inner = within({ ...narrow, schema: property }, { ...wide, schema: other }, direction);
      found.push(...inner.map((what) => `.${name}${what}`));
    } else if (isClosed || direction === "sent") found.push(`.${name}: is gone`);
  }
  for (const name of wanted) {
    if (given.includes(name)) continue;
    if (direction === "sent") found.push(`.${name}: is newly required`);
    else if (some[name]) found.push(`.${name}: may be missing`);
  }
  if (direction === "answered") {
    found.push(...Object.keys(all).flatMap((name) => (some[name] ? [] : [`.${name}: is gone`])));
  }
  if (isClosed && narrow.schema.additionalProperties !== false) found.push(": is newly closed");
  return found;
};

/** Compares the values of unlisted names, and the names themselves. */
const entries = (narrow: Side, wide: Side, direction: Direction): string[] =>
  ["additionalProperties", "propertyNames", "items"].flatMap((keyword) => {
    const [some, all] = [narrow.schema[keyword], wide.schema[keyword]];
    if (typeof all !== "object" || all === null) return [];
    if (keyword === "additionalProperties" && some === false) return [];
    const inner = { ...narrow, schema: (typeof some === "object" ? some : {}) as JsonSchema };
    const mark = keyword === "items" ? "[]" : `.${keyword}`;
    return within(inner, { ...wide, schema: all as JsonSchema }, direction).map((what) => mark + what);
  });

const oneForm = (narrow: Side, wide: Side, direction: Direction): string[] => [
  ...plainly(narrow.schema, wide.schema, direction),
  ...fields(narrow, wide, direction),
  ...entries(narrow, wide, direction),
];

const takes = (wide: JsonSchema, narrow: JsonSchema): boolean =>
  wide.type === undefined || wide.type === narrow.type || (wide.type === "number" && narrow.type === "integer");

/** Keyed by the narrow schema's resolver: two descriptions may share a schema that means something else in each. */
const judged = new WeakMap<Side["resolve"], WeakMap<object, WeakMap<object, string[]>>>();

/** Returns why `wide` does not accept some value of `narrow`; empty if it accepts all. Judges each pair once. */
export const within = (narrow: Side, wide: Side, direction: Direction): string[] => {
  const [some, all] = [narrow, wide].map(({ schema, resolve }) => ({
    ...{ resolve, schema: Object.keys(schema).join() === "$ref" ? resolve<JsonSchema>(schema as Reference) : schema },
  })) as [Side, Side];
  const here = judged.get(some.resolve) ?? new WeakMap<object, WeakMap<object, string[]>>();
  judged.set(some.resolve, here);
  const known = here.get(some.schema) ?? new WeakMap<object, string[]>();
  here.set(some.schema, known);
  const found = known.get(all.schema) ?? judge(some, all, direction);
  known.set(all.schema, found);
  return found;
};

const judge = (narrow: Side, wide: Side, direction: Direction): string[] => {
  const found = formsOf(narrow).flatMap((form) => {
    const candidates = formsOf(wide).filter((other) => takes(other, form));
    if (candidates.length === 0) return [`: type ${form.type ?? "any"}`];
    const inner = candidates.map((other) =>
      oneForm({ ...narrow, schema: form }, { ...wide, schema: other }, direction),
    );
    return inner.sort((a, b) => a.length - b.length)[0] ?? [];
  });
  const [before, after] = direction === "sent" ? [narrow.schema, wide.schema] : [wide.schema, narrow.schema];
  if (direction === "sent" && JSON.stringify(before.default) !== JSON.stringify(after.default)) found.push(": default");
  return found;
};
