import { isScalar, type Node, type Scalar } from "yaml";
import { closestName } from "../../domain/closest-name.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ParseContext } from "../parse/parse-context.ts";
import type { NodeParser, ScalarText } from "./node-parser.ts";

const readScalar = (node: Node, context: ParseContext, expected: string): Scalar | undefined => {
  const target = context.resolve(node);
  if (isScalar(target) && target.value !== null) return target;
  context.mistake(node, `This must be ${expected}`);
  return undefined;
};

/**
 * Parses text. A number or a boolean stays as written, so that `1.10` stays `1.10`. `expected` is the message for a
 * list or mapping in place of text.
 */
export const text = (emptyAllowed = false, expected = "text"): NodeParser<ScalarText> => ({
  schema: { type: ["string", "number", "boolean"], ...(emptyAllowed ? {} : { minLength: 1 }) },
  parse(node, context) {
    const scalar = readScalar(node, context, expected);
    if (!scalar) return undefined;
    const value = typeof scalar.value === "string" ? scalar.value : (scalar.source ?? String(scalar.value));
    if (value.includes("\0")) context.mistake(node, "This must not have a NUL character");
    else if (value !== "" || emptyAllowed) return { text: value, node: scalar };
    else context.mistake(node, "This must not be empty");
    return undefined;
  },
});

/** Parses text that must match a pattern. */
export const name = (pattern: RegExp, message: string): NodeParser<ScalarText> => ({
  schema: { type: "string", pattern: pattern.source },
  parse(node, context) {
    const scalar = text().parse(node, context);
    if (!scalar || pattern.test(scalar.text)) return scalar;
    context.mistake(node, message);
    return undefined;
  },
});

export const flag: NodeParser<boolean> = {
  schema: { type: "boolean" },
  parse(node, context) {
    const target = context.resolve(node);
    if (isScalar(target) && typeof target.value === "boolean") return target.value;
    context.mistake(node, "This must be true or false");
    return undefined;
  },
};

export const wholeNumber = (minimum: number, maximum: number): NodeParser<number> => ({
  schema: { type: "integer", minimum, maximum },
  parse(node, context) {
    const target = context.resolve(node);
    const value = isScalar(target) ? target.value : undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
    context.mistake(node, `This must be a whole number from ${minimum} to ${maximum}`);
    return undefined;
  },
});

export const choice = <Name extends string | boolean>(...names: readonly Name[]): NodeParser<Name> => ({
  schema: { enum: names },
  parse(node, context) {
    const target = context.resolve(node);
    const value = isScalar(target) ? target.value : undefined;
    const match = names.find((one) => one === value);
    if (match !== undefined) return match;
    const near = typeof value === "string" ? closestName(value, names.map(String)) : undefined;
    context.mistake(node, `This must be one of: ${names.join(", ")}`, near);
    return undefined;
  },
});

/** The valid names of variables that a file sets. */
export const KEY = {
  pattern: new RegExp(`^(?!MILLRACE_|__proto__$)[A-Za-z_][A-Za-z0-9_]{0,${LIMITS.keyCharacters - 1}}$`),
  message: "The name of a variable must be letters, digits and _, and must not begin with a digit or MILLRACE_",
};
