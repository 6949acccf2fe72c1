export type PaletteKind = "build" | "run" | "pipeline" | "repository" | "agent" | "variable" | "group";

/** A row that a person finds by its words, and that the palette opens. */
export interface PaletteRow {
  kind: PaletteKind;
  name: string;
  /** The note that distinguishes rows with the same name. */
  note: string;
  href: string;
}

/**
 * Returns how well a word fits a text: 3 at the text's beginning, 2 at the beginning of one of its words, 1 inside a
 * word, otherwise 0.
 */
const scoreFit = (text: string, word: string): number => {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return 3;
  return /[^\p{L}\p{N}]/u.test(text[at - 1] ?? "") || isAtWord(text, word) ? 2 : 1;
};

const isAtWord = (text: string, word: string): boolean =>
  text.split(/[^\p{L}\p{N}#]+/u).some((part) => part.startsWith(word));

/**
 * Returns the entries that contain every word of the question, the best first. Equally good entries keep their order.
 */
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
