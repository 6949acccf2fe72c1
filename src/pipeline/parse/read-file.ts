import { type Document, LineCounter, type Node, visit } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { FILE_LIMITS, FileLimitExceeded } from "../fields/limits.ts";
import { byPlace, type Mistake } from "../mistake.ts";
import {
  isBareExpression,
  isUnclosedQuote,
  parseYaml,
  type YamlError,
  type YamlFile,
  yamlMessage,
} from "../yaml/yaml-document.ts";
import { IncludeState, type Includes, NOTHING_TO_INCLUDE } from "./included-files.ts";
import { ParseContext } from "./parse-context.ts";

/** A value with hints, or all mistakes of the file, in the order of the file. */
export type FileRead<Value> =
  | { value: Value; hints: Mistake[]; mistakes?: undefined }
  | { value?: undefined; hints?: undefined; mistakes: Mistake[] };

/**
 * Reads a value from a file's root. The file has no value if the reader returns undefined or adds mistakes to the
 * context.
 */
type Reader<Value> = (root: Node, context: ParseContext) => Value | undefined;

const inOrder = (mistakes: Mistake[]): Mistake[] => mistakes.sort(byPlace);

/**
 * Returns the offset to report for a YAML error. For an unclosed quote, this is the beginning of the quote, not the end
 * of the file.
 */
const errorOffset = (error: YamlError, document: Document.Parsed | null): number => {
  if (!document || !isUnclosedQuote(error)) return error.offset;
  let opened = error.offset;
  visit(document, {
    Scalar(_, node) {
      if (node.type?.startsWith("QUOTE") && node.range && node.range[0] < error.offset) opened = node.range[0];
    },
  });
  return opened;
};

/** Returns one mistake for each line, because later mistakes are mostly consequences of the first one. */
const yamlMistakes = (text: string, { document, errors }: YamlFile, lines: LineCounter): Mistake[] => {
  const last = errors.findIndex((error) => isBareExpression(error, text));
  const mistakes = errors.slice(0, last < 0 ? undefined : last + 1).map((error) => {
    const { line, col } = lines.linePos(errorOffset(error, document));
    return { line, column: col, message: yamlMessage(error, text) };
  });
  const first = new Map(mistakes.reverse().map((one) => [one.line, one]));
  return inOrder([...first.values()].slice(-20));
};

const read = <Value>(
  text: string,
  lines: LineCounter,
  reader: Reader<Value>,
  included: IncludeState,
): FileRead<Value> => {
  const file = parseYaml(text, lines, included.yaml);
  const mistakes = yamlMistakes(text, file, lines);
  if (mistakes.length > 0) return { mistakes };
  if (!file.document?.contents)
    return { mistakes: [{ line: 1, column: 1, message: "The file is empty: it needs `steps`" }] };
  const context = new ParseContext(text, file.document, lines, { included });
  const value = reader(file.document.contents, context);
  if (value === undefined || context.mistakes.length > 0) return { mistakes: inOrder(context.mistakes) };
  return { value, hints: inOrder(context.hints) };
};

/** Reads a pipeline file. A file that is not YAML or exceeds a limit has mistakes, too. */
export const readFile = <Value>(
  text: string,
  reader: Reader<Value>,
  includes: Includes = NOTHING_TO_INCLUDE,
): FileRead<Value> => {
  const most = FILE_LIMITS.characters;
  if (text.length > most)
    return { mistakes: [{ line: 1, column: 1, message: `The file has more than ${withCommas(most)} characters` }] };
  const lines = new LineCounter();
  try {
    return read(text, lines, reader, new IncludeState(text, includes));
  } catch (error) {
    if (error instanceof FileLimitExceeded) {
      const { line, col } = lines.linePos(error.offset);
      return { mistakes: [{ line, column: col, ...error.position, message: error.message }] };
    }
    // The parsers of YAML and of scripts are recursive, so deep nesting can exhaust the stack.
    if (error instanceof RangeError)
      return { mistakes: [{ line: 1, column: 1, message: "The file is nested too deeply" }] };
    throw error;
  }
};

/** An included file with its own positions. The file shares limits and mistakes with the including file. */
interface OpenedFile {
  root: Node;
  context: ParseContext;
}

/**
 * Reads the YAML of a file that is included at `at`; undefined if the file has no YAML. The context has the mistakes.
 * @throws {FileLimitExceeded}
 */
export const openIncluded = (file: string, text: string, at: Node, context: ParseContext): OpenedFile | undefined => {
  const { included } = context;
  included.characters += text.length;
  if (included.characters > FILE_LIMITS.characters) {
    const most = withCommas(FILE_LIMITS.characters);
    context.mistake(at, `With this one, the file and its included files have more than ${most} characters`);
    return undefined;
  }
  const lines = new LineCounter();
  const { document, errors } = parseIncludedYaml(text, lines, file, context);
  const mistakes = yamlMistakes(text, { document, errors }, lines);
  context.addAll(mistakes.map((mistake) => ({ ...mistake, file })));
  if (mistakes.length > 0) return undefined;
  if (document?.contents)
    return {
      root: document.contents,
      context: new ParseContext(text, document, lines, { included, within: { file, context } }),
    };
  context.addAll([{ line: 1, column: 1, file, message: "The file is empty: it needs `steps`" }]);
  return undefined;
};

/** @throws {FileLimitExceeded} with the position in this file */
const parseIncludedYaml = (text: string, lines: LineCounter, file: string, { included }: ParseContext) => {
  try {
    return parseYaml(text, lines, included.yaml);
  } catch (error) {
    if (!(error instanceof FileLimitExceeded)) throw error;
    const { line, col } = lines.linePos(error.offset);
    throw new FileLimitExceeded(error.message, error.offset, { line, column: col, file });
  }
};
