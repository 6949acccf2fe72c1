import { parseFile } from "../pipeline/parse/parse.ts";
import { VERSION } from "../protocol/version.ts";
import type { Beside } from "./beside.ts";
import { type Mark, type MarkKind, summaryLines } from "./marks.ts";
import { type PrintedLine, treeLines } from "./out.ts";
import { readWorkflow, Untranslatable } from "./read-workflow.ts";
import { translateFile } from "./workflow.ts";

/** The release of this program. */
export const version: string = VERSION;

export { minutesOf } from "./marks.ts";

/** A pipeline file with marks where something has no equivalent, or why the workflow cannot be translated. */
export type ImportResult =
  | { text: string; marks: readonly Mark[]; refusal?: undefined }
  | { text?: undefined; marks?: undefined; refusal: string };

/** The maximum number of rounds that remove parts which `check` rejects. Each round removes at least one. */
const MOST_ROUNDS = 20;

const summaryOf = (printed: readonly PrintedLine[]): string[] =>
  summaryLines(
    printed.flatMap(({ comment }, index) => {
      if (comment?.kind === undefined) return [];
      return [{ kind: comment.kind as MarkKind, text: comment.lines.join("\n"), printedAt: index + 1 }];
    }),
  );

/**
 * Translates until the project's own parser finds no mistake. Each part with a mistake becomes a mark.
 * @throws {Untranslatable}
 */
const translateUntilValid = async (text: string, name: string, beside?: Beside): Promise<ImportResult> => {
  const workflow = () => readWorkflow(text, name, beside);
  const withdrawn = new Map<string, string>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { file, marks } = translateFile(await workflow(), name, withdrawn);
    const lines = treeLines(file, "", "");
    const translation = `${[...lines.map((line) => line.text), ...summaryOf(lines)].join("\n")}\n`;
    const { mistakes = [] } = parseFile(translation);
    if (mistakes.length === 0) return { text: translation, marks: marks.list };
    const before = withdrawn.size;
    for (const { line, message } of mistakes) {
      const unit = lines[line - 1]?.unit ?? "";
      if (unit === "") throw new Untranslatable(`its translation would have a mistake: ${message}`);
      if (!withdrawn.has(unit)) withdrawn.set(unit, message);
    }
    if (withdrawn.size === before) break;
  }
  throw new Untranslatable("no part of it has an equivalent in a pipeline file");
};

/**
 * Translates a workflow of GitHub Actions. The output has no mistakes. Where something has no equivalent, the output
 * has a comment that begins with `import:`.
 * @param name the file's path in its repository
 * @param beside reads other files of that repository: files that name versions, and local actions
 */
export const importWorkflow = async (text: string, name: string, beside?: Beside): Promise<ImportResult> => {
  try {
    return await translateUntilValid(text, name, beside);
  } catch (error) {
    if (error instanceof Untranslatable) return { refusal: error.message };
    throw error;
  }
};
