import { isMap, isNode, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";
import { closestName } from "../../domain/closest-name.ts";
import { quotedKey } from "../mistake.ts";
import type { ParseContext } from "../parse/parse-context.ts";
import type { NodeParser } from "./node-parser.ts";

const readMap = (item: NodeParser<unknown>, value: unknown, context: ParseContext): void => {
  if (isNode(value) && isMap(context.resolve(value))) item.parse(value, context);
};

export const list = <Item>(
  item: NodeParser<Item>,
  limits: { atLeast?: number; atMost: number },
): NodeParser<Item[]> => ({
  schema: { type: "array", items: item.schema, minItems: limits.atLeast ?? 0, maxItems: limits.atMost },
  parse(node, context) {
    const target = context.resolve(node);
    if (!isSeq(target)) {
      context.mistake(node, "This must be a list, with `- ` before each item");
      // Report mistakes in the items as well.
      if (isMap(target)) for (const pair of target.items.slice(0, limits.atMost)) readMap(item, pair.value, context);
      return undefined;
    }
    if (target.items.length < (limits.atLeast ?? 0)) context.mistake(node, "This must not be empty");
    if (target.items.length > limits.atMost) context.mistake(node, `This must have at most ${limits.atMost} items`);
    const items = target.items.slice(0, limits.atMost).map((one) => item.parse(one as Node, context));
    return items.filter((one) => one !== undefined);
  },
});

/** Returns the key of a pair and its node; undefined for a key that is not text. */
const readKey = (pair: Pair<unknown, unknown>, context: ParseContext): { key: string; node: Node } | undefined => {
  const node = pair.key as Node;
  if (isScalar(node) && node.value !== null) return { key: node.source ?? String(node.value), node };
  context.mistake(node, "A key must be text");
  return undefined;
};

const isNothing = (node: unknown): boolean => !node || (isScalar(node) && node.value === null && !node.source);

type Pairs = { key: string; node: Node; value: Node }[];

const readPairs = (node: Node, context: ParseContext, texts?: Partial<MappingAdvice>): Pairs | undefined => {
  const target = context.resolve(node);
  if (!isMap(target)) {
    const ofWord = isScalar(target) && target.value !== null && texts?.adviceForWord?.(String(target.value));
    const advice = isSeq(target) ? texts?.adviceForList : ofWord;
    context.mistake(node, advice || "This must be a mapping, with `key: value` on each line");
    return undefined;
  }
  const keys = new Set<string>();
  return target.items.flatMap((pair) => {
    const key = readKey(pair, context);
    if (!key) return [];
    if (keys.has(key.key)) context.mistake(key.node, "This key appears twice");
    else if (key.key === "<<")
      context.mistake(
        key.node,
        "`<<` does not merge mappings here: write the keys, or use an alias for the whole mapping",
      );
    else if (isNothing(pair.value)) context.mistake(key.node, "This key has no value");
    else {
      keys.add(key.key);
      return [{ ...key, value: pair.value as Node }];
    }
    keys.add(key.key);
    return [];
  });
};

/** Parses a mapping with any keys that match a pattern. */
export const record = <Value>(
  key: { pattern: RegExp; message: string },
  value: NodeParser<Value>,
): NodeParser<{ key: string; node: Node; value: Value }[]> => ({
  schema: { type: "object", propertyNames: { pattern: key.pattern.source }, additionalProperties: value.schema },
  parse(node, context) {
    return readPairs(node, context)?.flatMap((pair) => {
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
interface Field<Value> {
  parser: NodeParser<Value>;
  description: string;
  required?: boolean;
}

export const field = <Value>(parser: NodeParser<Value>, description: string): Field<Value> => ({ parser, description });

type Fields = Record<string, Field<unknown>>;
type ValueOf<F> = F extends Field<infer Value> ? Value : never;
export type MappingOf<F extends Fields> = { [Key in keyof F]?: ValueOf<F[Key]> } & { node: Node };

/** The words for mistakes in a mapping: its name, and advice for keys and values of other CI systems. */
export interface MappingAdvice {
  name: string;
  adviceForKey?: (key: string, value: Node, context: ParseContext) => string | undefined;
  /** The message if the file has a single word instead of the mapping, and the message for a list. */
  adviceForWord?: (word: string) => string;
  adviceForList?: string;
  /** Keys of which a mapping needs at least one, and the message if it has none of them. */
  needsOneOf?: { keys: string[]; message: string };
}

/** Parses a mapping with known keys. */
export const mapping = <F extends Fields>(fields: F, texts: MappingAdvice): NodeParser<MappingOf<F>> => {
  const fieldsByKey = new Map(Object.entries(fields));
  const required = [...fieldsByKey].filter(([, field]) => field.required).map(([key]) => key);
  const properties = Object.fromEntries(
    [...fieldsByKey].map(([key, { parser, description }]) => [key, { description, ...parser.schema }]),
  );
  const requirement = texts.needsOneOf && { anyOf: texts.needsOneOf.keys.map((key) => ({ required: [key] })) };
  return {
    schema: {
      type: "object",
      properties,
      additionalProperties: false,
      ...(required.length > 0 ? { required } : {}),
      ...requirement,
    },
    parse(node, context) {
      const pairs = readPairs(node, context, texts);
      if (!pairs) return undefined;
      const result: Record<string, unknown> = { node };
      let isForOtherCi = false;
      for (const { key, node: at, value } of pairs) {
        const field = fieldsByKey.get(key);
        if (field) {
          result[key] = field.parser.parse(value, context);
          continue;
        }
        const unknown = `${quotedKey(key) ?? "This"} is not a key of ${texts.name}`;
        const advice = texts.adviceForKey?.(key, value, context);
        isForOtherCi ||= advice !== undefined;
        const near = advice === undefined ? closestName(key, fieldsByKey.keys()) : undefined;
        const more = advice ?? (near === undefined ? `The keys are ${[...fieldsByKey.keys()].join(", ")}` : undefined);
        context.mistake(at, more === undefined ? unknown : `${unknown}. ${more}`, near);
      }
      const present = new Set((context.resolve(node) as YAMLMap).items.map((pair) => String(pair.key)));
      for (const key of required) {
        if (!present.has(key) && !isForOtherCi) context.mistake(node, `The key \`${key}\` is missing here`);
      }
      const { needsOneOf } = texts;
      if (needsOneOf && !isForOtherCi && !needsOneOf.keys.some((key) => present.has(key)))
        context.mistake(node, needsOneOf.message);
      return result as MappingOf<F>;
    },
  };
};
