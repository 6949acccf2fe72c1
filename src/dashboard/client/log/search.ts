import type { LogStore } from "./log-store.ts";
import { plain, WIDEST } from "./paint.ts";

const LINES_AT_ONCE = 20_000;

/** Whether the line's first match is among the characters that are drawn. */
export const isShown = (line: string, needle: string): boolean => {
  const at = plain(line).toLowerCase().indexOf(needle);
  return at + needle.length <= WIDEST;
};

/** Indexes of the lines that have the text in any case; the page stays responsive meanwhile. */
export const search = async (store: LogStore, needle: string, isWanted: () => boolean): Promise<number[]> => {
  const found: number[] = [];
  for (let from = 0; from < store.count && isWanted(); from += LINES_AT_ONCE) {
    const to = Math.min(store.count, from + LINES_AT_ONCE);
    const text = store.text(from, to);
    if (text.includes("\x1b") || text.toLowerCase().includes(needle)) {
      const lines = text.split("\n");
      for (let at = 0; at < to - from; at += 1) {
        if (
          plain(lines[at] ?? "")
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
