import { Composer, CST, type Document, type ErrorCode, Lexer, type LineCounter, Parser } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { FILE_LIMITS, FileLimitExceeded } from "../fields/limits.ts";
import type { YamlError } from "./yaml-mistakes.ts";

/** Most errors of YAML collected. */
const MAX_ERRORS = 100;

const OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;

/** What a file, with all that it includes, has of YAML so far. */
export interface YamlSums {
  tokens: number;
  marks: number;
}

/** The tokens of a file, within the limits. Counting them costs little; the tree of a huge file would cost memory. */
function* boundedTokens(text: string, sums: YamlSums): Generator<string> {
  let offset = 0;
  let flow = 0;
  let onLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") flow++;
    else if (token === "]" || token === "}") flow--;
    else if (flow === 0 && (token === "-" || token === "?" || token === ":")) onLine++;
    else if (token.includes("\n")) onLine = 0;
    else if (/^[&*!]/.test(token)) sums.marks++;
    // Indentation alone cannot nest deep within the limit of characters.
    if (flow > FILE_LIMITS.depth || onLine > FILE_LIMITS.depth)
      throw new FileLimitExceeded("The file is nested too deeply", offset);
    if (sums.marks > FILE_LIMITS.marks)
      throw new FileLimitExceeded(
        `The file has more than ${withCommas(FILE_LIMITS.marks)} anchors, aliases and tags`,
        offset,
      );
    if (++sums.tokens > FILE_LIMITS.tokens)
      throw new FileLimitExceeded(
        `The file has more than ${withCommas(FILE_LIMITS.tokens)} words, signs and line breaks of YAML`,
        offset,
      );
    if (token !== CST.DOCUMENT && token !== CST.FLOW_END && token !== CST.SCALAR) offset += token.length;
    yield token;
  }
}

/** Stops the library: further errors are mostly consequences, and each costs memory. */
class TooManyErrors extends Error {}

/** The library's forms of an error's position. */
type ErrorLocation = number | [number, number] | { offset: number };

const startOf = (source: ErrorLocation): number =>
  typeof source === "number" ? source : Array.isArray(source) ? source[0] : source.offset;

/** The result of the YAML library; the document is null after too many errors. */
export interface YamlFile {
  document: Document.Parsed | null;
  /** Errors in the order they were found, then warnings. */
  errors: YamlError[];
}

/** Parses the one YAML document of a file. @throws {FileLimitExceeded} before it builds a larger tree */
export const parseYaml = (text: string, lines: LineCounter, sums: YamlSums): YamlFile => {
  const errors: YamlError[] = [];
  const warnings: YamlError[] = [];
  const note = (offset: number, code: ErrorCode, message: string, isWarning = false): void => {
    if (errors.length + warnings.length >= MAX_ERRORS) throw new TooManyErrors();
    (isWarning ? warnings : errors).push({ offset, code, message });
  };
  const parser = new Parser(lines.addNewLine);
  let documents = 0;
  /** The tokens of the first document, without errors: the library would keep each with its stack. */
  const good = function* (tokens: Iterable<CST.Token>) {
    for (const token of tokens) {
      if (token.type === "document") documents++;
      if (documents > 1) return note(token.offset, "MULTIPLE_DOCS", "More than one document");
      if (token.type === "error") note(token.offset, "UNEXPECTED_TOKEN", token.message);
      else if (token.type === "doc-end" && documents === 0)
        note(token.offset, "UNEXPECTED_TOKEN", "No document before");
      else yield token;
    }
  };
  const parsed = function* () {
    lines.addNewLine(0);
    for (const token of boundedTokens(text, sums)) {
      yield* good(parser.next(token));
      if (documents > 1) return;
    }
    yield* good(parser.end());
  };
  const composer = new Composer({ ...OPTIONS, lineCounter: lines });
  Object.assign(composer, {
    onError: (source: ErrorLocation, code: ErrorCode, message: string, isWarning?: boolean) =>
      note(startOf(source), code, message, isWarning),
  });
  let document: Document.Parsed | null = null;
  try {
    for (const one of composer.compose(parsed(), true, text.length)) document = one;
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
  }
  return { document, errors: [...errors, ...warnings] };
};
