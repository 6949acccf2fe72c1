import type { LogStore } from "./log-store.ts";
import { MOST_CHARACTERS, plainText } from "./paint.ts";

const LINES_AT_ONCE = 20_000;

/** Whether the line's first match is among the characters that are drawn. */
export const isShown = (line: string, needle: string): boolean => {
  const at = plainText(line).toLowerCase().indexOf(needle);
  return at + needle.length <= MOST_CHARACTERS;
};

/**
 * The indexes of the lines in the range that contain the text, in upper or lower case. It pauses after each block of lines, so that
 * the page stays responsive, and stops when `isWanted` is false.
 */
export const searchLog = async (
  store: LogStore,
  needle: string,
  isWanted: () => boolean,
  range: { from: number; to: number },
): Promise<number[]> => {
  const found: number[] = [];
  for (let { from } = range; from < range.to && isWanted(); from += LINES_AT_ONCE) {
    const to = Math.min(range.to, from + LINES_AT_ONCE);
    const text = store.text(from, to);
    if (/[\x1b\b]/.test(text) || text.toLowerCase().includes(needle)) {
      const lines = text.split("\n");
      for (let at = 0; at < to - from; at += 1) {
        if (
          plainText(lines[at] ?? "")
            .toLowerCase()
            .includes(needle)
        )
          found.push(from + at);
      }
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  return found;
};
