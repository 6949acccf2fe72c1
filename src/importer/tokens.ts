import { isBasicExpression, isLiteral, isMapping, isNumber, isScalar, isSequence } from "@actions/workflow-parser";
import type { MappingToken } from "@actions/workflow-parser/templates/tokens/mapping-token";
import type { TemplateToken } from "@actions/workflow-parser/templates/tokens/template-token";
import type { Source } from "./source.ts";

/* What the tokens of a workflow say, in the words of this program. */

export type Token = TemplateToken;

/** One pair of a mapping. `line` is that of its key, from 1. */
export interface Pair {
  key: string;
  value: Token;
  line: number;
}

export const lineOf = (token: Token): number => token.range?.start.line ?? 1;

/** The token as a mapping: the parser has refused everything else where this is asked. */
export const asMapping = (token: Token): MappingToken => token.assertMapping("a mapping");

export const pairsOf = (token: Token | undefined): Pair[] => {
  if (!token || !isMapping(token)) return [];
  return [...token].map(({ key, value }) => ({ key: key.toString(), value, line: lineOf(key) }));
};

export const find = (token: Token | undefined, key: string): Token | undefined =>
  token && isMapping(token) ? token.find(key) : undefined;

/** The items of a list; a single value is a list of itself. */
export const itemsOf = (token: Token | undefined): Token[] => {
  if (!token) return [];
  return isSequence(token) ? [...token] : [token];
};

export const isExpression = (token: Token): boolean => isScalar(token) && !isLiteral(token);

/** A scalar as text with its expressions. A number is the text that GitHub reads it as. */
export const readText = (token: Token, source: Source): string => {
  if (isBasicExpression(token)) {
    // Of text around an expression the parser makes a call of format(): the text itself is what is written.
    if (!token.originalExpressions) return `\${{ ${token.expression} }}`;
    return source.textAt(token) ?? token.source ?? token.toString();
  }
  return isScalar(token) ? token.toString() : "";
};

/** How a number is written, where GitHub reads another text. */
export const misread = (token: Token, source: Source): string | undefined => {
  if (!isScalar(token) || isExpression(token)) return undefined;
  const original = source.numberAt(token);
  return original !== undefined && original !== token.toString() ? original : undefined;
};

export { isLiteral, isMapping, isNumber, isScalar, isSequence };
