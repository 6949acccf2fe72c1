import { isBasicExpression, isLiteral, isMapping, isScalar, isSequence } from "@actions/workflow-parser";
import type { MappingToken } from "@actions/workflow-parser/templates/tokens/mapping-token";
import type { TemplateToken } from "@actions/workflow-parser/templates/tokens/template-token";
import { type Document, type LineCounter, type Scalar, visit } from "yaml";
import type { Beside } from "./beside.ts";
import { CommentsByLine } from "./comments.ts";
import { type Comment, EMPTY_LINE } from "./out.ts";

/** The workflow's text, for details that its tokens lack: texts and numbers as written, and comments. */
export class Source {
  readonly #lines: string[];
  readonly #scalars = new Map<string, Scalar>();
  readonly #comments: CommentsByLine;

  /** Undefined if only the workflow itself is available. */
  readonly beside: Beside | undefined;

  constructor(text: string, document: Document.Parsed, counter: LineCounter, beside?: Beside) {
    this.beside = beside;
    this.#lines = text.split(/\r\n|\n/);
    this.#comments = new CommentsByLine(text, document, counter);
    visit(document, {
      Scalar: (_, node) => {
        const { line, col } = counter.linePos(node.range?.[0] ?? 0);
        this.#scalars.set(`${line}:${col}`, node);
      },
    });
  }

  #scalarAt({ range }: TemplateToken): Scalar | undefined {
    return range && this.#scalars.get(`${range.start.line}:${range.start.column}`);
  }

  /** Returns a scalar's text with its expressions; undefined for a scalar behind an alias. */
  textAt(token: TemplateToken): string | undefined {
    const value = this.#scalarAt(token)?.value;
    return typeof value === "string" ? value : undefined;
  }

  /** Returns a number as written. */
  numberAt(token: TemplateToken): string | undefined {
    const node = this.#scalarAt(token);
    return typeof node?.value === "number" ? node.source : undefined;
  }

  /** Returns the lines of a token and its children, without common indentation. `from` is the line of its key. */
  lines(token: TemplateToken, from = token.range?.start.line ?? 1): string[] {
    const end = token.range?.end ?? { line: from, column: 2 };
    const lines = this.#lines.slice(from - 1, Math.max(from, end.column <= 1 ? end.line - 1 : end.line));
    while (lines.length > 1 && /^\s*(?:#.*)?$/.test(lines.at(-1) ?? "")) lines.pop();
    const indent = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/)));
    return lines.map((line) => line.slice(Number.isFinite(indent) ? indent : 0));
  }

  /** Returns the comments of the key or step that begins in this line, after an empty line if there is one. */
  commentsOn(line: number): Comment[] {
    const isApart = (this.#lines[this.#comments.firstLineOf(line) - 2] ?? "x").trim() === "";
    const comment = this.#comments.take(line);
    return [...(isApart ? [EMPTY_LINE] : []), ...(comment ? [comment] : [])];
  }

  /** The comments below everything. */
  get lastComments(): Comment[] {
    const comment = this.#comments.takeLast();
    return comment ? [EMPTY_LINE, comment] : [];
  }
}

/* Reads a workflow's tokens in this program's terms. */

export type WorkflowToken = TemplateToken;

/** A pair of a mapping. `line` is its key's line, from 1. */
export interface Pair {
  key: string;
  value: WorkflowToken;
  line: number;
}

export const lineOf = (token: WorkflowToken): number => token.range?.start.line ?? 1;

/** Returns the token as a mapping. The parser has already rejected anything else here. */
export const asMapping = (token: WorkflowToken): MappingToken => token.assertMapping("a mapping");

export const pairsOf = (token: WorkflowToken | undefined): Pair[] => {
  if (!token || !isMapping(token)) return [];
  return [...token].map(({ key, value }) => ({ key: key.toString(), value, line: lineOf(key) }));
};

export const find = (token: WorkflowToken | undefined, key: string): WorkflowToken | undefined =>
  token && isMapping(token) ? token.find(key) : undefined;

/** Returns the items of a list; for a single value, a list with this value. */
export const itemsOf = (token: WorkflowToken | undefined): WorkflowToken[] => {
  if (!token) return [];
  return isSequence(token) ? [...token] : [token];
};

export const isExpression = (token: WorkflowToken): boolean => isScalar(token) && !isLiteral(token);

/** Returns a scalar as text with its expressions. For a number, that is the text that GitHub reads. */
export const tokenText = (token: WorkflowToken, source: Source): string => {
  if (isBasicExpression(token)) {
    // The parser turns text around an expression into a call of format(). Return the text as written.
    if (!token.originalExpressions) return `\${{ ${token.expression} }}`;
    return source.textAt(token) ?? token.source ?? token.toString();
  }
  return isScalar(token) ? token.toString() : "";
};

/** Returns the text of an `if`, which may be true or a number. */
export const conditionText = (condition: WorkflowToken, source: Source): string =>
  isLiteral(condition) ? condition.toString() : tokenText(condition, source);

/** Reports whether the token has no text or no entry. */
export const isEmpty = (token: WorkflowToken, source: Source): boolean =>
  isScalar(token) ? tokenText(token, source) === "" : isMapping(token) && pairsOf(token).length === 0;

/** Returns a number as written, if GitHub reads another text. */
export const misread = (token: WorkflowToken, source: Source): string | undefined => {
  if (!isScalar(token) || isExpression(token)) return undefined;
  const original = source.numberAt(token);
  return original !== undefined && original !== token.toString() ? original : undefined;
};
