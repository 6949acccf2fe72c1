import type { Node, Scalar } from "yaml";
import type { ParseContext } from "../parse/parse-context.ts";

type JsonSchema = { [key: string]: unknown };

/** Parses one kind of node. The parser has its own JSON Schema, so that the schema and the check cannot differ. */
export interface NodeParser<Value> {
  schema: JsonSchema;
  /** Returns undefined for a node of another kind, and adds a mistake to the context. */
  parse(node: Node, context: ParseContext): Value | undefined;
}

export type ParsedBy<Parser> = Parser extends NodeParser<infer Value> ? Value : never;

/** The text of a scalar, with its node to locate it in the source. */
export interface ScalarText {
  text: string;
  node: Scalar;
}

/** Accepts two kinds of node. `isFirst` chooses the parser. */
export const either = <A, B>(
  first: NodeParser<A>,
  isFirst: (node: Node) => boolean,
  second: NodeParser<B>,
): NodeParser<A | B> => ({
  schema: { anyOf: [first.schema, second.schema] },
  parse(node, context) {
    const target = context.resolve(node);
    return target && isFirst(target) ? first.parse(node, context) : second.parse(node, context);
  },
});
