import type { Node } from "yaml";
import type { ParseContext } from "../parse/parse-context.ts";
import { INPUT_TYPES, type InputKind, type InputLiteral } from "../parse/plan.ts";
import { field, list, type MappingOf, mapping, record } from "../yaml/collection-parsers.ts";
import type { NodeParser, ScalarText } from "../yaml/node-parser.ts";
import { choice, flag, text } from "../yaml/scalar-parsers.ts";
import { FILE_LIMITS } from "./limits.ts";
import { NAME_IN_FILE } from "./step-fields.ts";

const OPTIONS = 100;

const FIELDS = {
  type: field(choice(...INPUT_TYPES), "The type of its value; string by default."),
  options: field(list(text(), { atLeast: 1, atMost: OPTIONS }), "The values that an input of type choice may have."),
  default: field(text(true), "Its value if none is given."),
  required: field(flag, "false: without a value or a default, it is null. true by default."),
  description: field(text(true), "Its description, for readers of the file."),
};

const INPUT = mapping(FIELDS, {
  name: "an input",
  adviceForWord: () => "An input is a mapping, for example `{ type: string, default: x }`",
});
const RECORD = record({ ...NAME_IN_FILE, message: "An input's name must be letters, digits, _ and -" }, INPUT);

/** An input of an included file. An input without `fallback` needs a value. */
export interface Input extends InputKind {
  name: string;
  fallback?: InputLiteral;
}

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Reads a text as a value of this kind; undefined if the text is not a valid value. */
export const parseInput = (literal: string, { type, options }: InputKind): InputLiteral | undefined => {
  if (type === "string") return literal;
  if (type === "choice") return options.includes(literal) ? literal : undefined;
  if (type === "boolean") return literal === "true" ? true : literal === "false" ? false : undefined;
  const number = DECIMAL.test(literal) ? Number(literal) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
};

/** Describes a valid value of this kind, for a message. */
export const inputProblem = ({ type, options }: InputKind): string =>
  type === "choice"
    ? `This must be one of: ${options.join(", ")}`
    : `This must be ${type === "boolean" ? "true or false" : type === "number" ? "a number" : "text"}`;

const readFallback = (scalar: ScalarText, kind: InputKind, context: ParseContext): InputLiteral => {
  const value = parseInput(scalar.text, kind);
  if (scalar.text.includes("${{")) context.mistake(scalar.node, "A default is plain text: it cannot have ${{ }}");
  else if (value === undefined) context.mistake(scalar.node, inputProblem(kind));
  return value ?? null;
};

const declareInput = (name: string, node: Node, fields: MappingOf<typeof FIELDS>, context: ParseContext): Input => {
  const { type = "string", options, default: fallback, required } = fields;
  const fits = (type === "choice") === (options !== undefined);
  if (!fits) context.mistake(node, "An input of type choice needs `options`, and no other type has them");
  const kind: InputKind = { type: fits ? type : "string", options: (options ?? []).map((option) => option.text) };
  if (required && fallback)
    context.mistake(node, "An input with a default is never required: leave out `required`, or the default");
  const value = fallback && readFallback(fallback, kind, context);
  if (value !== undefined) return { name, ...kind, fallback: value };
  return required === false ? { name, ...kind, fallback: null } : { name, ...kind };
};

/** The inputs of an included file. */
export const INPUTS: NodeParser<Input[]> = {
  schema: { ...RECORD.schema, maxProperties: FILE_LIMITS.inputs },
  parse(node, context) {
    const entries = RECORD.parse(node, context);
    if (entries && entries.length > FILE_LIMITS.inputs)
      context.mistake(node, `A file has at most ${FILE_LIMITS.inputs} inputs`);
    return entries?.slice(0, FILE_LIMITS.inputs).map(({ key, node, value }) => declareInput(key, node, value, context));
  },
};
