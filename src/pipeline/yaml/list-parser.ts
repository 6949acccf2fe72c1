import { isMap, isNode, isSeq, type Node } from "yaml";
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
    const found = context.resolve(node);
    if (!isSeq(found)) {
      context.mistake(node, "This must be a list, with `- ` before each item");
      // Mistakes in the items are reported all the same.
      if (isMap(found)) for (const pair of found.items.slice(0, limits.atMost)) readMap(item, pair.value, context);
      return undefined;
    }
    if (found.items.length < (limits.atLeast ?? 0)) context.mistake(node, "This must not be empty");
    if (found.items.length > limits.atMost) context.mistake(node, `This must have at most ${limits.atMost} items`);
    const items = found.items.slice(0, limits.atMost).map((one) => item.parse(one as Node, context));
    return items.filter((one) => one !== undefined);
  },
});
