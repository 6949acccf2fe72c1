/** A terminal sequence, or a character. */
const PIECES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\s\S]/gu;
/** Sequences that erase the rest of the line, or the whole line. */
const ERASES = /^\x1b\[[02]?[JK]$/;
/**
 * Pieces that print nothing. A tab is one of them, because the output continues without it. A space is not, because it
 * overwrites the character under it.
 */
const IS_SILENT = /^[\x00-\x1f\x7f]/;

const isErasedOrPrinted = (text: string): boolean => {
  for (const [piece] of text.matchAll(PIECES)) if (ERASES.test(piece) || !IS_SILENT.test(piece)) return true;
  return false;
};

/**
 * Returns the index after the last carriage return that text follows. The text after it overwrites everything before
 * it.
 */
export const settledFrom = (line: string): number => {
  let end = line.length;
  while (end > 0) {
    const from = line.lastIndexOf("\r", end - 1) + 1;
    if (from === 0 || isErasedOrPrinted(line.slice(from, end))) return from;
    end = from - 1;
  }
  return 0;
};

/** Applies the backspaces. Each backspace moves back over a character, and the next character overwrites that one. */
export const afterBackspaces = (text: string): string => {
  if (!text.includes("\b")) return text;
  const characters: string[] = [];
  /** The sequences before each character. All sequences remain, so that later colours are right. */
  const sequences: string[] = [""];
  let at = 0;
  for (const [piece] of text.matchAll(PIECES)) {
    if (piece === "\b") at = Math.max(0, at - 1);
    else if (IS_SILENT.test(piece) && piece !== "\t") sequences[at] += piece;
    else {
      characters[at] = piece === "\t" ? (characters[at] ?? piece) : piece;
      at += 1;
      sequences[at] ??= "";
    }
  }
  return sequences.map((before, index) => before + (characters[index] ?? "")).join("");
};

/** Returns the line that a terminal shows in the end, with its colours. */
export const settledLine = (line: string): string => afterBackspaces(line.slice(settledFrom(line)));
