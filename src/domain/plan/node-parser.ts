import type { Node, Scalar } from "yaml";
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
