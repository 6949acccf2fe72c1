import { Lexer, Parser } from "@actions/expressions";
import {
  Binary,
  ContextAccess,
  type Expr,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Star,
  Unary,
} from "@actions/expressions/ast";
import { TokenType } from "@actions/expressions/lexer";
import { findSpans } from "../pipeline/expression/interpolation.ts";

/* The trees of GitHub's expressions. */

const OTHERS = ["success", "failure", "always", "cancelled"].map((name) => ({ name, minArgs: 0, maxArgs: 255 }));
const FUNCTIONS = [...OTHERS, { name: "hashFiles", minArgs: 1, maxArgs: 255 }];

/** @throws what the library throws */
export const parse = (text: string): Expr => {
  const { tokens } = new Lexer(text).lex();
  const names = tokens.flatMap((token, index) =>
    token.type === TokenType.IDENTIFIER && tokens[index - 1]?.type !== TokenType.DOT ? [token.lexeme] : [],
  );
  return new Parser(
    tokens,
    names,
    FUNCTIONS.map((one) => ({ ...one })),
  ).parse();
};

/** The context and the literal keys of `context.key`; a star is `*`. Null for all else. */
export const contextPath = (node: Expr): string[] | null => {
  if (node instanceof ContextAccess) return [node.name.lexeme];
  if (!(node instanceof IndexAccess)) return null;
  const holder = contextPath(node.expr);
  if (!holder) return null;
  if (node.index instanceof Star) return [...holder, "*"];
  return node.index instanceof Literal ? [...holder, node.index.literal.coerceString()] : null;
};

/** A text that is written out. */
export const stringIn = (node: Expr): string | undefined =>
  node instanceof Literal && node.token.type === TokenType.STRING
    ? node.token.lexeme.slice(1, -1).replaceAll("''", "'")
    : undefined;

const isStatusCall = (node: Expr): boolean =>
  node instanceof FunctionCall && /^(?:success|failure|always|cancelled)$/i.test(node.functionName.lexeme);

const someNode = (node: Expr, test: (node: Expr) => boolean): boolean => {
  if (test(node)) return true;
  if (node instanceof FunctionCall || node instanceof Logical) return node.args.some((arg) => someNode(arg, test));
  if (node instanceof Binary) return someNode(node.left, test) || someNode(node.right, test);
  if (node instanceof Grouping) return someNode(node.group, test);
  if (node instanceof Unary || node instanceof IndexAccess) return someNode(node.expr, test);
  return false;
};

/** Whether a condition names a status function: then it does not mean `success() && (...)`. */
export const usesStatus = (text: string): boolean => {
  const { spans } = findSpans(text);
  return (spans.length > 0 ? spans.map(({ inner }) => inner) : [text]).some((one) => {
    try {
      return someNode(parse(one), isStatusCall);
    } catch {
      return true;
    }
  });
};
