import { Composer, CST, type Document, type ErrorCode, Lexer, type LineCounter, Parser } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { FILE_LIMITS, FileLimitExceeded } from "../fields/limits.ts";

/** An error of the YAML library, with its offset in the file. */
export interface YamlError {
  offset: number;
  code: ErrorCode;
  message: string;
}

const BY_CODE: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: "This alias has no anchor before it",
  BAD_DQ_ESCAPE: "There is no such escape in double quotes: write single quotes, or a second backslash",
  BAD_INDENT: "The indentation does not match the lines above",
  BAD_SCALAR_START: "A value cannot begin with this character: put it in quotes",
  BLOCK_AS_IMPLICIT_KEY: "A value with `: ` in it needs quotes around it",
  BLOCK_IN_FLOW: "Inside { } or [ ] write mappings and lists with { } and [ ]",
  MISSING_CHAR: "Something is missing here: a `:` after a key, a space, a comma or a closing quote",
  MULTILINE_IMPLICIT_KEY: "A key must be on one line, with a `:` after it",
  MULTIPLE_DOCS: "A pipeline file is one document: leave out the second `---`",
  RESOURCE_EXHAUSTION: "The file is nested too deeply",
  TAB_AS_INDENT: "Indent with spaces, not tabs",
  TAG_RESOLVE_FAILED: "A word that begins with `!` is a tag in YAML: put quotes or ${{ }} around the whole value",
};

export const isUnclosedQuote = (error: YamlError): boolean => /^Missing closing ['"]quote/.test(error.message);

/** Reports whether the error is about the braces of an unquoted expression. All later errors follow from it. */
export const isBareExpression = (error: YamlError, source: string): boolean =>
  source.startsWith("${{", error.offset - 1);

/** Returns the message for an error of the YAML library, whose own messages quote the file. */
export const yamlMessage = (error: YamlError, source: string): string => {
  if (isBareExpression(error, source)) return "Inside { } or [ ] put quotes around a value with ${{ }} in it";
  if (isUnclosedQuote(error)) return "This text has no closing quote";
  if (/end with a [\]}]/.test(error.message))
    return "A [ or { before this is never closed, or its content is not indented";
  if (/item without - indicator/.test(error.message)) return "The indentation does not match the lines above";
  if (/^Unexpected .* at node end/.test(error.message))
    return "The value ends before this: put quotes around the whole value";
  return BY_CODE[error.code] ?? "This is not valid YAML";
};

/** Maximum YAML errors to collect. */
const MAX_ERRORS = 100;

const OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;

/** The YAML that was counted so far in a file and in the files that it includes. */
export interface YamlSums {
  tokens: number;
  marks: number;
}

/**
 * Returns the tokens of a file, within the limits. Counting them costs little, but the tree of a huge file would cost
 * memory.
 */
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
    // Within the limit of characters, indentation alone cannot nest deeply.
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

/** Stops the library after too many errors. Further errors are mostly consequences, and each costs memory. */
class TooManyErrors extends Error {}

/** The library's forms of an error's position. */
type ErrorLocation = number | [number, number] | { offset: number };

const errorStart = (source: ErrorLocation): number =>
  typeof source === "number" ? source : Array.isArray(source) ? source[0] : source.offset;

/** The result of the YAML library. The document is null after too many errors. */
export interface YamlFile {
  document: Document.Parsed | null;
  /** Errors in the order in which the library found them, then warnings. */
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
  /**
   * Returns the tokens of the first document, without errors, because the library would keep each error with its stack.
   */
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
      note(errorStart(source), code, message, isWarning),
  });
  let document: Document.Parsed | null = null;
  try {
    for (const one of composer.compose(parsed(), true, text.length)) document = one;
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
  }
  return { document, errors: [...errors, ...warnings] };
};
