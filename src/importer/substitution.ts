import { type Token, TokenType } from "@actions/expressions/lexer";
import { findSpans } from "../pipeline/expression/interpolation.ts";
import { evaluateConstant, tokensOf } from "./expression-tree.ts";
import { NoEqual } from "./marks.ts";

/* Names that only an action's steps know. Each is replaced by its equivalent in the place that uses the action. */

export interface TextsOfNames {
  /** The inputs' values, by names in lower case: texts with expressions of the calling place. */
  inputs: ReadonlyMap<string, string>;
  /** The ids of the action's steps in the job, by the steps' own ids in lower case. */
  ids: ReadonlyMap<string, string>;
  /** The action's own folder, relative to the checkout. */
  folder: string;
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Converts a text with expressions to one expression. Its value is a text, as an input's value is. */
export const asExpression = (text: string): string => {
  const { spans } = findSpans(text);
  if (spans.length === 0) return quote(text);
  let format = "";
  let end = 0;
  for (const [index, span] of spans.entries()) {
    format += `${text.slice(end, span.start).replaceAll(/[{}]/g, "$&$&")}{${index}}`;
    end = span.end;
  }
  format += text.slice(end).replaceAll(/[{}]/g, "$&$&");
  return `format(${quote(format)}, ${spans.map(({ inner }) => inner).join(", ")})`;
};

const isName = (token: Token | undefined, name: string): boolean =>
  token?.type === TokenType.IDENTIFIER && token.lexeme.toLowerCase() === name;

/** Returns the key after a context, `.key` or `['key']`, and its number of tokens. */
const keyAfter = (tokens: Token[], index: number): { key: string; length: number } | undefined => {
  const [first, second, third] = tokens.slice(index + 1, index + 4);
  if (first?.type === TokenType.DOT && second?.type === TokenType.IDENTIFIER) return { key: second.lexeme, length: 3 };
  if (
    first?.type === TokenType.LEFT_BRACKET &&
    second?.type === TokenType.STRING &&
    third?.type === TokenType.RIGHT_BRACKET
  )
    return { key: second.lexeme.slice(1, -1).replaceAll("''", "'"), length: 4 };
  return undefined;
};

/** Replaces names in one expression. @throws {NoEqual} for a name that cannot be replaced */
const partsOf = (expression: string, { inputs, ids, folder }: TextsOfNames): string[] => {
  let tokens: Token[];
  try {
    tokens = tokensOf(expression);
  } catch {
    throw new NoEqual("an invalid expression", "template");
  }
  const parts: string[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (token.type === TokenType.EOF) break;
    const isContext = tokens[index - 1]?.type !== TokenType.DOT;
    const key = isContext ? keyAfter(tokens, index) : undefined;
    if (isContext && isName(token, "inputs")) {
      if (!key) throw new NoEqual("all of `inputs`", "template");
      parts.push(asExpression(inputs.get(key.key.toLowerCase()) ?? ""));
      index += key.length - 1;
    } else if (isContext && isName(token, "steps")) {
      const id = key && ids.get(key.key.toLowerCase());
      if (!key || id === undefined) throw new NoEqual("a step of another file", "template");
      parts.push(`steps.${id}`);
      index += key.length - 1;
    } else if (isContext && isName(token, "github") && key?.key.toLowerCase() === "action_path") {
      parts.push(quote(folder));
      index += key.length - 1;
    } else parts.push(token.lexeme);
  }
  return parts;
};

/** Joins words and signs with spaces, except inside names and calls. */
const spaced = (parts: readonly string[]): string =>
  parts.reduce<string>((text, part) => {
    const isTight = /[.(!["]$/.test(text) || /^[.),[\]]/.test(part) || (part === "(" && /[\w-]$/.test(text));
    return text === "" || isTight ? text + part : `${text} ${part}`;
  }, "");

/** Splits at this operator; undefined if another operator is beside it. */
const splitAt = (parts: readonly string[], operator: "&&" | "||"): string[][] | undefined => {
  const lists: string[][] = [[]];
  let depth = 0;
  for (const part of parts) {
    if (/^[([]$/.test(part)) depth++;
    if (/^[)\]]$/.test(part)) depth--;
    if (depth === 0 && /^(?:&&|\|\|)$/.test(part) && part !== operator) return undefined;
    if (depth === 0 && part === operator) lists.push([]);
    else lists.at(-1)!.push(part);
  }
  return lists.length > 1 ? lists : undefined;
};

/** Returns a condition without its known parts. */
const conditionOf = (parts: readonly string[]): string => {
  const constant = constantOf(spaced(parts));
  if (constant !== undefined) return String(constant.isTrue);
  for (const operator of ["&&", "||"] as const) {
    const lists = splitAt(parts, operator);
    if (!lists) continue;
    const conditions = lists.map(conditionOf);
    const decides = operator === "&&" ? "false" : "true";
    if (conditions.includes(decides)) return decides;
    return conditions.filter((one) => !/^(?:true|false)$/.test(one)).join(` ${operator} `);
  }
  return spaced(parts);
};

/** Evaluates an expression without contexts; undefined for any other. */
const constantOf = (expression: string): { isTrue: boolean; text: string } | undefined => {
  if (
    /\b(?:github|env|vars|matrix|needs|steps|secrets|runner|job|strategy|hashFiles|inputs)\b/i.test(
      expression.replaceAll(/'(?:[^']|'')*'/g, ""),
    )
  )
    return undefined;
  try {
    return evaluateConstant(expression);
  } catch {
    return undefined;
  }
};

/** Replaces an action's names in a text. `isCondition`: the text is a condition, with or without `${{ }}`. */
export const replaceNames = (text: string, texts: TextsOfNames, isCondition: boolean): string => {
  const { spans } = findSpans(text);
  if (isCondition && spans.length === 0) return conditionOf(partsOf(text, texts));
  let replaced = "";
  let end = 0;
  for (const span of spans) {
    replaced += text.slice(end, span.start);
    const input = /^inputs\.([\w-]+)$/i.exec(span.inner)?.[1];
    const parts = partsOf(span.inner, texts);
    const constant = constantOf(spaced(parts));
    if (isCondition && spans.length === 1) replaced += `\${{ ${conditionOf(parts)} }}`;
    else if (input !== undefined) replaced += texts.inputs.get(input.toLowerCase()) ?? "";
    else if (constant !== undefined) replaced += constant.text;
    else replaced += `\${{ ${spaced(parts)} }}`;
    end = span.end;
  }
  return replaced + text.slice(end);
};
