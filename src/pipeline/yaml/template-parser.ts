import type { Scalar } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { idiomsIn } from "../advice/scripts.ts";
import { type KnownNames, wrongNames } from "../expression/check.ts";
import type { UnknownNames } from "../expression/evaluate.ts";
import { findSpans } from "../expression/interpolation.ts";
import { parseExpression } from "../expression/parse.ts";
import { FILE_LIMITS } from "../fields/limits.ts";
import { ExpressionMistake } from "../mistake.ts";
import type { ParseContext } from "../parse/parse-context.ts";
import type { LocatedExpression, Script, Shell, Template } from "../parse/plan.ts";
import { replaceExpressions } from "../shell/references.ts";
import type { ScalarText } from "./node-parser.ts";
import { ScalarSourceMap } from "./source-map.ts";

const firstLine = (script: string): string => (script.trim().split("\n")[0] ?? "").slice(0, 100);

const NAMES_WORDS = /(?:args|arguments|flags|options|opts|params)(?:'\])?$/i;
const FALLBACK = /(?:&&|\|\|)\s*'([^']*)'$/;

/** Reports whether an expression's name or fallback suggests several words or no words. */
const isOfSeveralWords = (expression: string): boolean => {
  const fallback = FALLBACK.exec(expression)?.[1];
  return NAMES_WORDS.test(expression) || fallback === "" || /\s/.test(fallback ?? "");
};
const ONE_WORD =
  "Outside quotes this is one word, even if it is empty or has spaces: for several words, set a variable under `env` and write $NAME without quotes";

/** Parses texts with expressions, and reports the mistakes in them. */
export class TemplateParser {
  readonly context: ParseContext;
  readonly names: KnownNames;
  constructor(context: ParseContext, names: KnownNames) {
    this.context = context;
    this.names = names;
  }

  /** Reports a mistake at a character of a scalar's value. */
  mistake(node: Scalar, index: number, message: string, suggestion?: string): void {
    if (!this.context.isFull) this.context.mistake(this.#sourceMap(node).offset(index), message, suggestion);
  }

  #sourceMap(node: Scalar): ScalarSourceMap {
    const { context } = this;
    return context.memoize(node, "source map", () => new ScalarSourceMap(context.source, node));
  }

  #spans({ text, node }: ScalarText): ReturnType<typeof findSpans> {
    const result = this.context.memoize(node, "spans", () => findSpans(text));
    const over = result.spans[FILE_LIMITS.expressions];
    if (!over) return result;
    const message = `This text has more than ${withCommas(FILE_LIMITS.expressions)} expressions`;
    throw this.context.limit(message, this.#sourceMap(node).offset(over.start));
  }

  /** Parses the expression that begins at `start` of the scalar's value. */
  expression(node: Scalar, text: string, start: number, unknown: UnknownNames): LocatedExpression | null {
    const { context } = this;
    const note = (mistake: ExpressionMistake) =>
      this.mistake(node, start + mistake.offset, mistake.message, mistake.suggestion);
    const located = context.memoize(node, `expression at ${start}`, () => {
      try {
        const expression = parseExpression(text);
        if (!expression.root) throw new ExpressionMistake("There is no expression between ${{ and }}");
        const sourceMap = this.#sourceMap(node);
        return { expression, positionAt: (offset: number) => context.positionAt(sourceMap.offset(start + offset)) };
      } catch (error) {
        if (!(error instanceof ExpressionMistake)) throw error;
        note(error);
        return null;
      }
    });
    // Count `${{` and `}}`, too. One of the library's tokens is the end.
    context.countExpression((located?.expression.offsets.size ?? 1) + 1, node.range?.[0] ?? 0);
    if (located) for (const mistake of wrongNames(located.expression, this.names, unknown)) note(mistake);
    return located;
  }

  /** Parses a text with `${{ }}` in it. */
  template(scalar: ScalarText): Template {
    const { text, node } = scalar;
    const { spans, open } = this.#spans(scalar);
    if (open !== undefined) this.mistake(node, open, "This ${{ is never closed by }}");
    const template: Template = [];
    let end = 0;
    for (const span of spans) {
      if (span.start > end) template.push(text.slice(end, span.start));
      const value = this.expression(node, span.inner, span.innerStart, "mistake");
      if (value) template.push(value);
      end = span.end;
    }
    if (end < text.length) template.push(text.slice(end));
    return template;
  }

  /** Replaces a script's expressions with variables. `fileKeys` are the variables that the file's `env` sets. */
  script(scalar: ScalarText, shell: Shell, fileKeys: string[]): Script & { firstLine: string } {
    const { text, node } = scalar;
    const spans = this.#spans(scalar);
    const read = this.context.memoize(node, `script for ${shell}`, () => ({
      ...replaceExpressions(text, shell, spans),
      firstLine: firstLine(text),
      idioms: idiomsIn(text),
    }));
    for (const { offset, advice, variable } of read.idioms)
      if (variable === null || !fileKeys.includes(variable)) this.mistake(node, offset, advice);
    for (const { offset, message } of read.problems) this.mistake(node, offset, message);
    const references = read.expressions.flatMap(({ name, expression, offset, isWord }) => {
      if (isWord && isOfSeveralWords(expression)) this.context.hint(this.#sourceMap(node).offset(offset), ONE_WORD);
      const value = this.expression(node, expression, offset, "mistake");
      return value ? [{ name, value }] : [];
    });
    return { text: read.script, references, firstLine: read.firstLine };
  }

  /** Parses the condition of `if`. The expression may be with or without `${{ }}` around it. */
  condition(scalar: ScalarText, unknown: UnknownNames = "null"): LocatedExpression | null {
    const { text, node } = scalar;
    const { spans, open } = this.#spans(scalar);
    const [span] = spans;
    if (open !== undefined) this.mistake(node, open, "This ${{ is never closed by }}");
    else if (!span) return this.expression(node, text, 0, unknown);
    else if (text.slice(0, span.start).trim() !== "" || text.slice(span.end).trim() !== "")
      this.mistake(
        node,
        span.start,
        "Text around ${{ }} is always true: put the whole condition inside, or leave out ${{ }}",
      );
    else return this.expression(node, span.inner, span.innerStart, unknown);
    return null;
  }
}
