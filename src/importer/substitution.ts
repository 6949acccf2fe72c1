import { type Token, TokenType } from "@actions/expressions/lexer";
import { findSpans } from "../pipeline/expression/interpolation.ts";
import { evaluateConstant, tokensOf } from "./expression-tree.ts";
import { NoEqual } from "./marks.ts";

/* The names that only the steps of an action know, in its texts: each stands as what it is where the action is used. */

export interface TextsOfNames {
  /** The values of inputs, by names in lower case: texts with expressions of the place of use. */
  inputs: ReadonlyMap<string, string>;
  /** What its steps are called in the job, by their ids in lower case. */
  ids: ReadonlyMap<string, string>;
  /** The action's own folder, from the checkout downwards. */
  folder: string;
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A text with expressions as one expression, whose value is a text as that of an input is. */
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

/** The key behind a context: `.key` or `['key']`, with the number of tokens that it has. */
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

/** One expression. @throws {NoEqual} where it names what cannot be put in place */
const partsOf = (expression: string, { inputs, ids, folder }: TextsOfNames): string[] => {
  let tokens: Token[];
  try {
    tokens = tokensOf(expression);
  } catch {
    throw new NoEqual("an expression that cannot be read", "template");
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
      if (!key || id === undefined) throw new NoEqual("a step that is none of its own", "template");
      parts.push(`steps.${id}`);
      index += key.length - 1;
    } else if (isContext && isName(token, "github") && key?.key.toLowerCase() === "action_path") {
      parts.push(quote(folder));
      index += key.length - 1;
    } else parts.push(token.lexeme);
  }
  return parts;
};

/** Words and signs with spaces between them, but none around those of names and calls. */
const spaced = (parts: readonly string[]): string =>
  parts.reduce<string>((text, part) => {
    const isTight = /[.(!["]$/.test(text) || /^[.),[\]]/.test(part) || (part === "(" && /[\w-]$/.test(text));
    return text === "" || isTight ? text + part : `${text} ${part}`;
  }, "");

/** The parts between this operator, where no other one of its kind stands beside it. */
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

/** A condition without what is known of it. */
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

/** What an expression without contexts is; undefined for any other. */
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

/** The text in which the names of an action stand as what they are. `isCondition`: it is one, with or without `${{ }}`. */
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
