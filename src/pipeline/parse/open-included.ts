import { LineCounter, type Node } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { FILE_LIMITS, FileLimitExceeded } from "../fields/limits.ts";
import { parseYaml } from "../yaml/yaml-document.ts";
import { ParseContext } from "./parse-context.ts";
import { yamlMistakes } from "./read-file.ts";

/** A file that another includes, with its own positions; limits and mistakes are those of the one that includes it. */
interface Opened {
  root: Node;
  context: ParseContext;
}

/**
 * Reads the YAML of a file that is included at `at`; undefined where it has none. Mistakes are in the context.
 * @throws {FileLimitExceeded}
 */
export const openIncluded = (file: string, text: string, at: Node, context: ParseContext): Opened | undefined => {
  const { included } = context;
  included.characters += text.length;
  if (included.characters > FILE_LIMITS.characters) {
    const most = withCommas(FILE_LIMITS.characters);
    context.mistake(at, `With this one the file and all that it includes have more than ${most} characters`);
    return undefined;
  }
  const lines = new LineCounter();
  const { document, errors } = yamlOf(text, lines, file, context);
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
const yamlOf = (text: string, lines: LineCounter, file: string, { included }: ParseContext) => {
  try {
    return parseYaml(text, lines, included.yaml);
  } catch (error) {
    if (!(error instanceof FileLimitExceeded)) throw error;
    const { line, col } = lines.linePos(error.offset);
    throw new FileLimitExceeded(error.message, error.offset, { line, column: col, file });
  }
};
