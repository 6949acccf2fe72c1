/** A sequence of a terminal, or a character. */
const PIECES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\s\S]/gu;
/** Erases the line to its end, or all of it. */
const ERASES = /^\x1b\[[02]?[JK]$/;
/** Pieces that print nothing. A tab goes on without one, and a space prints over what was there. */
const IS_SILENT = /^[\x00-\x1f\x7f]/;

const isErasedOrPrinted = (text: string): boolean => {
  for (const [piece] of text.matchAll(PIECES)) if (ERASES.test(piece) || !IS_SILENT.test(piece)) return true;
  return false;
};

/** The index behind the last carriage return with something behind it: that is written over what is before. */
export const settledFrom = (line: string): number => {
  let end = line.length;
  while (end > 0) {
    const from = line.lastIndexOf("\r", end - 1) + 1;
    if (from === 0 || isErasedOrPrinted(line.slice(from, end))) return from;
    end = from - 1;
  }
  return 0;
};

/** The text after its backspaces: each goes back over a character, and the next one is written over that. */
export const afterBackspaces = (text: string): string => {
  if (!text.includes("\b")) return text;
  const characters: string[] = [];
  /** The sequences before each character: all stay, so that the colours behind it are right. */
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

/** What a terminal shows of a line at its end, with its colours. */
export const settledLine = (line: string): string => afterBackspaces(line.slice(settledFrom(line)));
