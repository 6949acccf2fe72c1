import { Composer, CST, type Document, type ErrorCode, Lexer, type LineCounter, Parser } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { FILE_LIMITS, FileLimitExceeded } from "./limits.ts";
import type { YamlError } from "./yaml-mistakes.ts";

/** Errors of YAML that are looked at. */
const MAX_ERRORS = 100;

const OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;

/** The tokens of a file, up to what a tree may be built of: counting them costs little, the tree would cost memory. */
function* boundedTokens(text: string): Generator<string> {
  let offset = 0;
  let flow = 0;
  let onLine = 0;
  let marks = 0;
  let tokens = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") flow++;
    else if (token === "]" || token === "}") flow--;
    else if (flow === 0 && (token === "-" || token === "?" || token === ":")) onLine++;
    else if (token.includes("\n")) onLine = 0;
    else if (/^[&*!]/.test(token)) marks++;
    // What is nested by indentation alone cannot get deep in so few characters.
    if (flow > FILE_LIMITS.depth || onLine > FILE_LIMITS.depth)
      throw new FileLimitExceeded("The file is nested too deeply", offset);
    if (marks > FILE_LIMITS.marks)
      throw new FileLimitExceeded(
        `The file has more than ${withCommas(FILE_LIMITS.marks)} anchors, aliases and tags`,
        offset,
      );
    if (++tokens > FILE_LIMITS.tokens)
      throw new FileLimitExceeded(
        `The file has more than ${withCommas(FILE_LIMITS.tokens)} words, signs and line breaks of YAML`,
        offset,
      );
    if (token !== CST.DOCUMENT && token !== CST.FLOW_END && token !== CST.SCALAR) offset += token.length;
    yield token;
  }
}

/** Enough is wrong: what else the library would say follows from it, and each error more costs memory. */
class TooManyErrors extends Error {}

/** Where the library says that an error is. */
type ErrorLocation = number | [number, number] | { offset: number };

const startOf = (source: ErrorLocation): number =>
  typeof source === "number" ? source : Array.isArray(source) ? source[0] : source.offset;

/** A file as the YAML library reads it; the document is null when too much was wrong to go on. */
export interface YamlFile {
  document: Document.Parsed | null;
  /** Errors in the order they were found, then warnings. */
  errors: YamlError[];
}

/** The one YAML document of a file. @throws TooMuch before more than its limit is built */
export const parseYaml = (text: string, lines: LineCounter): YamlFile => {
  const errors: YamlError[] = [];
  const warnings: YamlError[] = [];
  const note = (offset: number, code: ErrorCode, message: string, isWarning = false): void => {
    if (errors.length + warnings.length >= MAX_ERRORS) throw new TooManyErrors();
    (isWarning ? warnings : errors).push({ offset, code, message });
  };
  const parser = new Parser(lines.addNewLine);
  let documents = 0;
  /** The tokens of the first document without those that are errors: the library would keep each with its stack. */
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
    for (const token of boundedTokens(text)) {
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
