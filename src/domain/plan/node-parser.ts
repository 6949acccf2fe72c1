import { isMap, isNode, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from "yaml";
import { closestName } from "../closest-name.ts";
import type { ParseContext } from "./parse-context.ts";

export type JsonSchema = { [key: string]: unknown };

/** Reads one kind of node: the schema and the check are one thing, so that they cannot differ. */
export interface NodeParser<Value> {
  schema: JsonSchema;
  /** Undefined when it is not of this kind; what is wrong with it is then among the mistakes. */
  parse(node: Node, context: ParseContext): Value | undefined;
}

/** A scalar with its value and its node, for what has to be found again in the source. */
export interface ScalarText {
  text: string;
  node: Scalar;
}

const scalarOf = (node: Node, context: ParseContext, expected: string): Scalar | undefined => {
  const found = context.resolve(node);
  if (isScalar(found) && found.value !== null) return found;
  context.mistake(node, `This must be ${expected}`);
  return undefined;
};

/**
 * Text; a number or a boolean is text as it is written, so that `1.10` stays `1.10`. `expected` is what to say of a
 * list or mapping in its place.
 */
export const text = (emptyAllowed = false, expected = "text"): NodeParser<ScalarText> => ({
  schema: { type: ["string", "number", "boolean"], ...(emptyAllowed ? {} : { minLength: 1 }) },
  parse(node, context) {
    const scalar = scalarOf(node, context, expected);
    if (!scalar) return undefined;
    const value = typeof scalar.value === "string" ? scalar.value : (scalar.source ?? String(scalar.value));
    if (value.includes("\0")) context.mistake(node, "This must not have a NUL character");
    else if (value !== "" || emptyAllowed) return { text: value, node: scalar };
    else context.mistake(node, "This must not be empty");
    return undefined;
  },
});

/** Text that has to satisfy a pattern. */
export const name = (pattern: RegExp, message: string): NodeParser<ScalarText> => ({
  schema: { type: "string", pattern: pattern.source },
  parse(node, context) {
    const written = text().parse(node, context);
    if (!written || pattern.test(written.text)) return written;
    context.mistake(node, message);
    return undefined;
  },
});

export const flag: NodeParser<boolean> = {
  schema: { type: "boolean" },
  parse(node, context) {
    const found = context.resolve(node);
    if (isScalar(found) && typeof found.value === "boolean") return found.value;
    context.mistake(node, "This must be true or false");
    return undefined;
  },
};

export const wholeNumber = (minimum: number, maximum: number): NodeParser<number> => ({
  schema: { type: "integer", minimum, maximum },
  parse(node, context) {
    const found = context.resolve(node);
    const value = isScalar(found) ? found.value : undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
    context.mistake(node, `This must be a whole number from ${minimum} to ${maximum}`);
    return undefined;
  },
});

export const choice = <Name extends string | boolean>(...names: readonly Name[]): NodeParser<Name> => ({
  schema: { enum: names },
  parse(node, context) {
    const found = context.resolve(node);
    const value = isScalar(found) ? found.value : undefined;
    const match = names.find((one) => one === value);
    if (match !== undefined) return match;
    const near = typeof value === "string" ? closestName(value, names.map(String)) : undefined;
    context.mistake(node, `This must be one of: ${names.join(", ")}`, near);
    return undefined;
  },
});

const readMap = (item: NodeParser<unknown>, value: unknown, context: ParseContext): void => {
  if (isNode(value) && isMap(context.resolve(value))) item.parse(value, context);
};

export const list = <Item>(
  item: NodeParser<Item>,
  limits: { atLeast?: number; atMost: number },
): NodeParser<Item[]> => ({
  schema: { type: "array", items: item.schema, minItems: limits.atLeast ?? 0, maxItems: limits.atMost },
  parse(node, context) {
    const found = context.resolve(node);
    if (!isSeq(found)) {
      context.mistake(node, "This must be a list, with `- ` before each item");
      // What is wrong in the items is told all the same.
      if (isMap(found)) for (const pair of found.items.slice(0, limits.atMost)) readMap(item, pair.value, context);
      return undefined;
    }
    if (found.items.length < (limits.atLeast ?? 0)) context.mistake(node, "This must not be empty");
    if (found.items.length > limits.atMost) context.mistake(node, `This must have at most ${limits.atMost} items`);
    const items = found.items.slice(0, limits.atMost).map((one) => item.parse(one as Node, context));
    return items.filter((one) => one !== undefined);
  },
});

/** Where the key of a pair stands, and its text; undefined for keys that are no text. */
const keyOf = (pair: Pair<unknown, unknown>, context: ParseContext): { key: string; node: Node } | undefined => {
  const node = pair.key as Node;
  if (isScalar(node) && node.value !== null) return { key: node.source ?? String(node.value), node };
  context.mistake(node, "A key must be text");
  return undefined;
};

const isNothing = (node: unknown): boolean => !node || (isScalar(node) && node.value === null && !node.source);

type Pairs = { key: string; node: Node; value: Node }[];

const pairsOf = (node: Node, context: ParseContext, insteadOf?: (word: string) => string): Pairs | undefined => {
  const found = context.resolve(node);
  if (!isMap(found)) {
    const told = isScalar(found) && found.value !== null && insteadOf?.(String(found.value));
    context.mistake(node, told || "This must be a mapping, with `key: value` on each line");
    return undefined;
  }
  const seen = new Set<string>();
  return found.items.flatMap((pair) => {
    const key = keyOf(pair, context);
    if (!key) return [];
    if (seen.has(key.key)) context.mistake(key.node, "This key is there twice");
    else if (key.key === "<<") context.mistake(key.node, "Mappings are not merged: write the keys, or alias the whole");
    else if (isNothing(pair.value)) context.mistake(key.node, "This key has no value");
    else {
      seen.add(key.key);
      return [{ ...key, value: pair.value as Node }];
    }
    seen.add(key.key);
    return [];
  });
};

/** A mapping whose keys are free. */
export const record = <Value>(
  key: { pattern: RegExp; message: string },
  value: NodeParser<Value>,
): NodeParser<{ key: string; node: Node; value: Value }[]> => ({
  schema: { type: "object", propertyNames: { pattern: key.pattern.source }, additionalProperties: value.schema },
  parse(node, context) {
    return pairsOf(node, context)?.flatMap((pair) => {
      if (!key.pattern.test(pair.key)) {
        context.mistake(pair.node, key.message);
        return [];
      }
      const read = value.parse(pair.value, context);
      return read === undefined ? [] : [{ key: pair.key, node: pair.node, value: read }];
    });
  },
});

/** One key of a mapping. */
export interface Field<Value> {
  parser: NodeParser<Value>;
  description: string;
  required?: boolean;
}

type Fields = Record<string, Field<unknown>>;
type ValueOf<F> = F extends Field<infer Value> ? Value : never;
export type MappingOf<F extends Fields> = { [Key in keyof F]?: ValueOf<F[Key]> } & { node: Node };

/** What a mapping is called where a key is none of it, and what to write instead of what other systems have. */
export interface MappingAdvice {
  name: string;
  adviceForKey?: (key: string, value: Node, context: ParseContext) => string | undefined;
  /** What to say of one word in its place. */
  adviceForWord?: (word: string) => string;
}

/** A key is named if it looks like one, so that nothing else of the file comes into a message. */
const quotedKey = (key: string): string => (/^[\w.$-]{1,40}$/.test(key) ? `\`${key}\`` : "This");

/** A mapping with known keys. */
export const mapping = <F extends Fields>(fields: F, called: MappingAdvice): NodeParser<MappingOf<F>> => {
  const known = new Map(Object.entries(fields));
  const required = [...known].filter(([, field]) => field.required).map(([key]) => key);
  const properties = Object.fromEntries(
    [...known].map(([key, { parser, description }]) => [key, { description, ...parser.schema }]),
  );
  return {
    schema: { type: "object", properties, additionalProperties: false, ...(required.length > 0 ? { required } : {}) },
    parse(node, context) {
      const pairs = pairsOf(node, context, called.adviceForWord);
      if (!pairs) return undefined;
      const result: Record<string, unknown> = { node };
      let isFromElsewhere = false;
      for (const { key, node: at, value } of pairs) {
        const field = known.get(key);
        if (field) {
          result[key] = field.parser.parse(value, context);
          continue;
        }
        const unknown = `${quotedKey(key)} is no key of ${called.name}`;
        const told = called.adviceForKey?.(key, value, context);
        isFromElsewhere ||= told !== undefined;
        const near = told === undefined ? closestName(key, known.keys()) : undefined;
        const more = told ?? (near === undefined ? `It has ${[...known.keys()].join(", ")}` : undefined);
        context.mistake(at, more === undefined ? unknown : `${unknown}. ${more}`, near);
      }
      const present = new Set((context.resolve(node) as YAMLMap).items.map((pair) => String(pair.key)));
      for (const key of required) {
        if (!present.has(key) && !isFromElsewhere) context.mistake(node, `The key \`${key}\` is missing here`);
      }
      return result as MappingOf<F>;
    },
  };
};

/** Either of two kinds, told apart by whether the node is a mapping, a list or a scalar. */
export const either = <A, B>(
  first: NodeParser<A>,
  isFirst: (node: Node) => boolean,
  second: NodeParser<B>,
): NodeParser<A | B> => ({
  schema: { anyOf: [first.schema, second.schema] },
  parse(node, context) {
    const found = context.resolve(node);
    return found && isFirst(found) ? first.parse(node, context) : second.parse(node, context);
  },
});
