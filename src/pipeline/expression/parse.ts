import { type Expr, ExpressionError, Lexer, Parser } from "@actions/expressions";
import { type Token, TokenType } from "@actions/expressions/lexer";
import { closestName } from "../../domain/closest-name.ts";
import { FUNCTION_ADVICE, OPERATOR_ADVICE, SIGN_ADVICE } from "../advice/expressions.ts";
import { ExpressionMistake } from "../mistake.ts";
import { changedFunction } from "./changed.ts";
import { FUNCTION_NAMES, STATUS_FUNCTIONS } from "./names.ts";

/** A parsed expression. `root` is null when the expression is empty. */
export interface Expression {
  text: string;
  root: Expr | null;
  /** The offset in `text` of each token of the tree. */
  offsets: Map<Token, number>;
  /** Whether the expression calls a status function. If so, `if` does not add `success()`. */
  usesStatus: boolean;
}

/** Maximum tokens in one expression. So few tokens cannot nest deeply enough to exhaust the stack. */
const TOKEN_LIMIT = 2000;

const lex = (text: string): Token[] => {
  try {
    return new Lexer(text).lex().tokens;
  } catch (error) {
    const position = /Located at position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    if (position === undefined) throw new ExpressionMistake("This expression is too long", 0);
    const offset = Number(position) - 1;
    const sign = SIGN_ADVICE.get(text.slice(offset, offset + 2)) ?? SIGN_ADVICE.get(text[offset] ?? "");
    const message =
      text[offset] === "'" ? "This text has no closing '" : (sign ?? "This character is not allowed here");
    throw new ExpressionMistake(message, offset);
  }
};

/**
 * Returns the offset of each token. It counts offsets itself, because the library's line and column are wrong after a
 * line break inside a text.
 */
const tokenOffsets = (text: string, tokens: Token[]): Map<Token, number> => {
  let end = 0;
  return new Map(
    tokens.map((token) => {
      while (/[ \t\r\n]/.test(text[end] ?? "")) end++;
      const start = end;
      end += token.lexeme.length;
      return [token, start];
    }),
  );
};

/** Unescapes each '' of a text. The library unescapes only the first one. */
const unescapeToken = (token: Token): Token =>
  token.type === TokenType.STRING ? { ...token, value: token.lexeme.slice(1, -1).replaceAll("''", "'") } : token;

const functions = [...STATUS_FUNCTIONS.map((name) => ({ name, minArgs: 0, maxArgs: 0 })), changedFunction(null)];
const functionNames = new Map(FUNCTION_NAMES.map((name) => [name.toLowerCase(), name]));

const MESSAGES: [RegExp, string][] = [
  [/^Unexpected end/, "The expression ends too early"],
  [/^Exceeded max expression depth/, "The expression is nested too deeply"],
  [/^Too few/, "This function needs more arguments"],
  [/^Too many/, "This function takes fewer arguments"],
  [/^Even number/, "case() takes pairs of condition and value, then one value for everything else"],
  [/^Unexpected symbol/, "This is not expected here"],
];

/**
 * Parses one expression, the text between `${{` and `}}`. Does not look up names of variables.
 * @throws {ExpressionMistake}
 */
export const parseExpression = (text: string): Expression => {
  const tokens = lex(text).map(unescapeToken);
  if (tokens.length > TOKEN_LIMIT) throw new ExpressionMistake("This expression is too long");
  const offsets = tokenOffsets(text, tokens);
  const names: string[] = [];
  let usesStatus = false;
  for (const [index, token] of tokens.entries()) {
    if (token.type !== TokenType.IDENTIFIER || tokens[index - 1]?.type === TokenType.DOT) continue;
    if (tokens[index + 1]?.type !== TokenType.LEFT_PAREN) {
      names.push(token.lexeme);
      continue;
    }
    const name = functionNames.get(token.lexeme.toLowerCase());
    if (name === undefined) {
      const elsewhere = FUNCTION_ADVICE.get(token.lexeme.toLowerCase());
      const near = elsewhere === undefined ? closestName(token.lexeme, FUNCTION_NAMES) : undefined;
      throw new ExpressionMistake(elsewhere ?? "There is no such function", offsets.get(token), near);
    }
    usesStatus ||= STATUS_FUNCTIONS.some((status) => status === name);
  }
  try {
    const root = new Parser(
      tokens,
      names,
      functions.map((one) => ({ ...one })),
    ).parse() as Expr | undefined;
    return { text, root: root ?? null, offsets, usesStatus };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const at = tokens.findIndex((one) => one.range.start === error.pos);
    const word = [tokens[at], tokens[at - 1]].find((one) => OPERATOR_ADVICE.has(one?.lexeme.toLowerCase() ?? ""));
    if (word) throw new ExpressionMistake(OPERATOR_ADVICE.get(word.lexeme.toLowerCase())!, offsets.get(word));
    const token = tokens[at];
    const message = MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1] ?? "This expression is not valid";
    throw new ExpressionMistake(message, token && offsets.get(token));
  }
};
