import type { Scalar } from "yaml";
import { type KnownNames, wrongNames } from "../expression/check.ts";
import type { Unknown } from "../expression/evaluate.ts";
import { spansOf } from "../expression/interpolation.ts";
import { ExpressionMistake } from "../expression/mistake.ts";
import { parseExpression } from "../expression/parse.ts";
import { sourceOffset } from "./location.ts";
import type { PlacedExpression, Template } from "./plan.ts";
import type { Written } from "./reader.ts";
import type { Reading } from "./reading.ts";

/** Reads the expressions in one place of the file, and notes what is wrong with them. */
export class Expressions {
  readonly reading: Reading;
  readonly known: KnownNames;
  constructor(reading: Reading, known: KnownNames) {
    this.reading = reading;
    this.known = known;
  }

  /** Notes a mistake at a character of a scalar's value. */
  mistake(node: Scalar, index: number, message: string, suggestion?: string): void {
    if (!this.reading.isFull) this.reading.mistake(sourceOffset(this.reading.source, node, index), message, suggestion);
  }

  /** The expression that begins at `start` of the scalar's value. */
  expression(node: Scalar, text: string, start: number, unknown: Unknown): PlacedExpression | null {
    const note = (mistake: ExpressionMistake) =>
      this.mistake(node, start + mistake.offset, mistake.message, mistake.suggestion);
    try {
      const expression = parseExpression(text);
      if (!expression.root) throw new ExpressionMistake("There is no expression between ${{ and }}");
      for (const mistake of wrongNames(expression, this.known, unknown)) note(mistake);
      const { reading } = this;
      return { expression, at: (offset) => reading.place(sourceOffset(reading.source, node, start + offset)) };
    } catch (error) {
      if (!(error instanceof ExpressionMistake)) throw error;
      note(error);
      return null;
    }
  }

  /** Text with `${{ }}` in it. */
  template({ text, node }: Written): Template {
    const { spans, open } = spansOf(text);
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

  /** The condition of `if`: an expression, with or without `${{ }}` around it. */
  condition({ text, node }: Written): PlacedExpression | null {
    const { spans, open } = spansOf(text);
    const [span] = spans;
    if (open !== undefined) this.mistake(node, open, "This ${{ is never closed by }}");
    else if (!span) return this.expression(node, text, 0, "null");
    else if (text.slice(0, span.start).trim() !== "" || text.slice(span.end).trim() !== "")
      this.mistake(
        node,
        span.start,
        "Text around ${{ }} is always true: put the whole condition inside, or leave out ${{ }}",
      );
    else return this.expression(node, span.inner, span.innerStart, "null");
    return null;
  }
}
