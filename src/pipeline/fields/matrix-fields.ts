import { isMap, isScalar, isSeq, type Node } from "yaml";
import { LIMITS } from "../../protocol/limits.ts";
import type { Matrix, MatrixValue } from "../graph/graph.ts";
import { expandMatrix } from "../graph/matrix.ts";
import type { ParseContext } from "../parse/parse-context.ts";
import { list, record } from "../yaml/collection-parsers.ts";
import type { NodeParser } from "../yaml/node-parser.ts";
import { text } from "../yaml/scalar-parsers.ts";
import { NAME_IN_FILE } from "./step-fields.ts";

const COMPUTED = "A computed matrix is not supported yet: list its values";

/** The value of an axis. Text stays as written, so that `3.10` stays `3.10`. `true` and `false` are booleans. */
const VALUE: NodeParser<MatrixValue> = {
  schema: { type: ["string", "number", "boolean"], maxLength: LIMITS.jobNameCharacters },
  parse(node, context) {
    const target = context.resolve(node);
    if (isMap(target) || isSeq(target))
      context.mistake(node, "A matrix value must be text, true or false, not a list or a mapping");
    else if (isScalar(target) && typeof target.value === "boolean") return target.value;
    else if (isScalar(target) && target.value === null)
      context.mistake(node, "A matrix value must be text, true or false: write '' for an empty text");
    else {
      const scalar = text(true).parse(node, context);
      if (scalar?.text.includes("${{")) context.mistake(node, COMPUTED);
      else if (scalar && scalar.text.length > LIMITS.jobNameCharacters)
        context.mistake(node, `A matrix value must have at most ${LIMITS.jobNameCharacters} characters`);
      else if (scalar && !scalar.text.isWellFormed()) context.mistake(node, "A matrix value must be valid Unicode");
      else return scalar?.text;
    }
    return undefined;
  },
};

const VALUES = list(VALUE, { atLeast: 1, atMost: LIMITS.axisValues });

/** One item of `include` or `exclude`, with its node. */
const ITEM: NodeParser<{ node: Node; matrix: Matrix }> = {
  schema: { ...record(NAME_IN_FILE, VALUE).schema, minProperties: 1 },
  parse(node, context) {
    const pairs = record(NAME_IN_FILE, VALUE).parse(node, context);
    return pairs && { node, matrix: Object.fromEntries(pairs.map(({ key, value }) => [key, value])) };
  },
};
const ITEMS = list(ITEM, { atMost: LIMITS.jobs });

const NODE: NodeParser<Node> = { schema: {}, parse: (node) => node };
const AXIS = {
  ...NAME_IN_FILE,
  message: "The name of an axis must be letters, digits, _ and -, not beginning with a digit",
};

/** The combinations of a matrix. They are null if the matrix has mistakes, which are then in the context. */
interface MatrixOfFile {
  axes: string[];
  /** All keys: the keys of the axes, and those that `include` adds. */
  keys: string[];
  combinations: Matrix[];
}

interface MatrixParts {
  axes: { name: string; values: MatrixValue[] }[];
  include: { node: Node; matrix: Matrix }[];
  exclude: { node: Node; matrix: Matrix }[];
}

const readParts = (pairs: { key: string; node: Node; value: Node }[], context: ParseContext): MatrixParts => {
  const parts: MatrixParts = { axes: [], include: [], exclude: [] };
  for (const { key, node, value } of pairs) {
    if (key === "include" || key === "exclude") parts[key] = ITEMS.parse(value, context) ?? [];
    else if (isScalar(context.resolve(value)) && String((value as { value?: unknown }).value).includes("${{"))
      context.mistake(value, COMPUTED);
    else {
      const values = VALUES.parse(value, context);
      if (values && parts.axes.length === LIMITS.matrixAxes)
        context.mistake(node, `A matrix has at most ${LIMITS.matrixAxes} axes`);
      if (values) parts.axes.push({ name: key, values });
    }
  }
  return parts;
};

const expandParts = (parts: MatrixParts, node: Node, context: ParseContext): Matrix[] => {
  const { axes, include, exclude } = parts;
  const matrices = (items: MatrixParts["include"]) => items.map(({ matrix }) => matrix);
  const { combinations = [], problems = [] } = expandMatrix({
    axes,
    include: matrices(include),
    exclude: matrices(exclude),
  });
  for (const { at, index, message } of problems)
    context.mistake(at === "matrix" ? node : parts[at][index]!.node, message);
  return combinations;
};

const matrixIn = (node: Node, context: ParseContext): MatrixOfFile | undefined => {
  const before = context.mistakes.length;
  const pairs = record(AXIS, NODE).parse(node, context);
  if (!pairs) return undefined;
  const parts = readParts(pairs, context);
  const axes = parts.axes.map(({ name }) => name);
  const keys = [...new Set([...axes, ...parts.include.flatMap(({ matrix }) => Object.keys(matrix))])];
  const combinations = context.mistakes.length > before ? [] : expandParts(parts, node, context);
  return { axes, keys, combinations };
};

/** A matrix with its combinations. A matrix with mistakes has no combinations. */
export const MATRIX: NodeParser<MatrixOfFile> = {
  schema: {
    type: "object",
    propertyNames: { pattern: NAME_IN_FILE.pattern.source },
    properties: {
      include: { description: "Adds keys to combinations that fit, or whole combinations.", ...ITEMS.schema },
      exclude: { description: "Removes combinations of the axes.", ...ITEMS.schema },
    },
    additionalProperties: VALUES.schema,
  },
  parse(node, context) {
    const target = context.resolve(node);
    if (target && !isScalar(target)) return context.memoize(target, "matrix", () => matrixIn(target, context));
    context.mistake(node, COMPUTED);
    return undefined;
  },
};
