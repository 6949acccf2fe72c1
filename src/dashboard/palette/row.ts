export type PaletteKind = "build" | "run" | "pipeline" | "repository" | "agent" | "variable" | "group";

/** Something that the palette finds by its words, and opens. */
export interface PaletteRow {
  kind: PaletteKind;
  name: string;
  /** What tells it from others of its name. */
  note: string;
  href: string;
}

/** How well one word fits a text: 3 at its begin, 2 at the begin of a word in it, 1 inside, 0 not at all. */
const scoreFit = (text: string, word: string): number => {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return 3;
  return /[^\p{L}\p{N}]/u.test(text[at - 1] ?? "") || isAtWord(text, word) ? 2 : 1;
};

const isAtWord = (text: string, word: string): boolean =>
  text.split(/[^\p{L}\p{N}#]+/u).some((part) => part.startsWith(word));

/** The entries that have every word of the question, best first; equal ones stay in their order. */
export const rank = <T extends { name: string; note: string; kind: string }>(entries: T[], question: string): T[] => {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = entries.map((entry) => {
    const [name, rest] = [entry.name.toLowerCase(), `${entry.kind} ${entry.note}`.toLowerCase()];
    const fits = words.map((word) => 2 * scoreFit(name, word) || scoreFit(rest, word) / 2);
    return { entry, score: fits.includes(0) ? 0 : fits.reduce((sum, each) => sum + each, 1) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score)
    .map(({ entry }) => entry);
};
