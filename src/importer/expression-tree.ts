import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
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
import { type Token, TokenType } from "@actions/expressions/lexer";
import { falsy } from "@actions/expressions/result";
import { findSpans } from "../pipeline/expression/interpolation.ts";

/* Syntax trees of GitHub's expressions. */

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

/** Returns an expression's tokens. @throws what the library throws */
export const tokensOf = (text: string): Token[] => new Lexer(text).lex().tokens;

/** Evaluates an expression without contexts. @throws what the library throws */
export const evaluateConstant = (text: string): { isTrue: boolean; text: string } => {
  const value = new Evaluator(parse(text), new data.Dictionary()).evaluate();
  return { isTrue: !falsy(value), text: value.coerceString() };
};

/** Returns the context and the literal keys of `context.key`, with `*` for a star; null for anything else. */
export const contextPath = (node: Expr): string[] | null => {
  if (node instanceof ContextAccess) return [node.name.lexeme];
  if (!(node instanceof IndexAccess)) return null;
  const holder = contextPath(node.expr);
  if (!holder) return null;
  if (node.index instanceof Star) return [...holder, "*"];
  return node.index instanceof Literal ? [...holder, node.index.literal.coerceString()] : null;
};

/** Returns the text of a text literal. */
export const stringIn = (node: Expr): string | undefined =>
  node instanceof Literal && node.token.type === TokenType.STRING
    ? node.token.lexeme.slice(1, -1).replaceAll("''", "'")
    : undefined;

const ungrouped = (node: Expr): Expr => (node instanceof Grouping ? ungrouped(node.group) : node);

/** Returns the name on one side of a comparison, and the expression on the other side. */
const sidesOf = ({ left, right }: Binary): [name: string, other: Expr][] =>
  [[left, right] as const, [right, left] as const].flatMap(([side, other]): [string, Expr][] => {
    const path = contextPath(side);
    return path ? [[path.join(".").toLowerCase(), other]] : [];
  });

const comparesEvent = (node: Expr, sign: string, event: string): boolean => {
  const inner = ungrouped(node);
  if (!(inner instanceof Binary) || inner.operator.lexeme !== sign) return false;
  return sidesOf(inner).some(([name, other]) => name === "github.event_name" && stringIn(other) === event);
};

/** Reports whether the node means "not a pull request". */
export const isNoPull = (node: Expr): boolean => comparesEvent(node, "!=", "pull_request");

/** Reports whether the node means "a push", or at least "not a pull request". */
export const isAnyPush = (node: Expr): boolean => comparesEvent(node, "==", "push") || isNoPull(node);

const HEAD = "github.event.pull_request.head.repo.";

const isOfHead = ([name]: [name: string, other: Expr]): boolean => name.startsWith(HEAD) && name !== `${HEAD}fork`;

/** Reports whether the node means "a pull request from another repository". */
export const isOfStranger = (node: Expr): boolean => {
  const inner = ungrouped(node);
  if (inner instanceof IndexAccess) return contextPath(inner)?.join(".").toLowerCase() === `${HEAD}fork`;
  const isOther = (one: Expr, sign: string): boolean =>
    one instanceof Binary && one.operator.lexeme === sign && sidesOf(one).some(isOfHead);
  return inner instanceof Unary ? isOther(ungrouped(inner.expr), "==") : isOther(inner, "!=");
};

/** Reports whether the node means "a pull request from the own repository". A condition excludes it with `!`. */
export const isOwnPull = (node: Expr): boolean => {
  const inner = ungrouped(node);
  if (!(inner instanceof Logical) || inner.operator.lexeme !== "&&" || inner.args.length !== 2) return false;
  const isOwn = (one: Expr): boolean => {
    const side = ungrouped(one);
    return side instanceof Binary && side.operator.lexeme === "==" && sidesOf(side).some(isOfHead);
  };
  return inner.args.some((one) => comparesEvent(one, "==", "pull_request")) && inner.args.some(isOwn);
};

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

/** Reports whether a condition names a status function. Then it does not mean `success() && (...)`. */
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
