import { isMap, isScalar, type Node, type Pair, type YAMLMap } from "yaml";
import { closestName } from "../closest-name.ts";
import type { NodeParser } from "./node-parser.ts";
import type { ParseContext } from "./parse-context.ts";

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
