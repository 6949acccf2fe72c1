import type { Scalar } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { type KnownNames, wrongNames } from "../expression/check.ts";
import type { Unknown } from "../expression/evaluate.ts";
import { spansOf } from "../expression/interpolation.ts";
import { ExpressionMistake } from "../expression/mistake.ts";
import { parseExpression } from "../expression/parse.ts";
import { idiomsIn } from "../other-ci/scripts.ts";
import { FILE_LIMITS, TooMuch } from "./limits.ts";
import { ScalarPlaces } from "./location.ts";
import type { PlacedExpression, Script, Shell, Template } from "./plan.ts";
import type { Written } from "./reader.ts";
import type { Reading } from "./reading.ts";
import { referencesOf } from "./references.ts";

const firstLine = (script: string): string => (script.trim().split("\n")[0] ?? "").slice(0, 100);

/** What by its name, or by what it falls back to, is meant to be several words of a command or none. */
const SEVERAL_WORDS = /(?:args|arguments|flags|options|opts|params)(?:'\])?$|(?:&&|\|\|)\s*'(?:[^']*\s[^']*)?'$/i;
const ONE_WORD =
  "Outside quotes this is one word, also when it is empty or has spaces: for several, name it under `env` and write $NAME without quotes";

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
    if (!this.reading.isFull) this.reading.mistake(this.#places(node).offset(index), message, suggestion);
  }

  #places(node: Scalar): ScalarPlaces {
    const { reading } = this;
    return reading.once(node, "places", () => new ScalarPlaces(reading.source, node));
  }

  #spans({ text, node }: Written): ReturnType<typeof spansOf> {
    const found = this.reading.once(node, "spans", () => spansOf(text));
    const over = found.spans[FILE_LIMITS.expressions];
    if (!over) return found;
    const message = `This text has more than ${withCommas(FILE_LIMITS.expressions)} expressions`;
    throw new TooMuch(message, this.#places(node).offset(over.start));
  }

  /** The expression that begins at `start` of the scalar's value. */
  expression(node: Scalar, text: string, start: number, unknown: Unknown): PlacedExpression | null {
    const { reading } = this;
    const note = (mistake: ExpressionMistake) =>
      this.mistake(node, start + mistake.offset, mistake.message, mistake.suggestion);
    const placed = reading.once(node, `expression at ${start}`, () => {
      try {
        const expression = parseExpression(text);
        if (!expression.root) throw new ExpressionMistake("There is no expression between ${{ and }}");
        const places = this.#places(node);
        return { expression, at: (offset: number) => reading.place(places.offset(start + offset)) };
      } catch (error) {
        if (!(error instanceof ExpressionMistake)) throw error;
        note(error);
        return null;
      }
    });
    // With both braces; one of the library's tokens is the end.
    reading.countExpression((placed?.expression.offsets.size ?? 1) + 1, node.range?.[0] ?? 0);
    if (placed) for (const mistake of wrongNames(placed.expression, this.known, unknown)) note(mistake);
    return placed;
  }

  /** Text with `${{ }}` in it. */
  template(written: Written): Template {
    const { text, node } = written;
    const { spans, open } = this.#spans(written);
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

  /** A script, with variables in the place of its expressions. `given` are names that the file gives to variables. */
  script(written: Written, shell: Shell, given: string[]): Script & { firstLine: string } {
    const { text, node } = written;
    const found = this.#spans(written);
    const read = this.reading.once(node, `script for ${shell}`, () => ({
      ...referencesOf(text, shell, found),
      firstLine: firstLine(text),
      idioms: idiomsIn(text),
    }));
    for (const { offset, advice, variable } of read.idioms)
      if (variable === null || !given.includes(variable)) this.mistake(node, offset, advice);
    for (const { offset, message } of read.problems) this.mistake(node, offset, message);
    const references = read.expressions.flatMap(({ name, expression, offset, isWord }) => {
      if (isWord && SEVERAL_WORDS.test(expression)) this.reading.hint(this.#places(node).offset(offset), ONE_WORD);
      const value = this.expression(node, expression, offset, "mistake");
      return value ? [{ name, value }] : [];
    });
    return { text: read.script, references, firstLine: read.firstLine };
  }

  /** The condition of `if`: an expression, with or without `${{ }}` around it. */
  condition(written: Written): PlacedExpression | null {
    const { text, node } = written;
    const { spans, open } = this.#spans(written);
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
