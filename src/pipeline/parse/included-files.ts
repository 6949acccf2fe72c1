import type { YamlSums } from "../yaml/yaml-document.ts";

/** A file that another includes, by its path from the repository's root. */
export interface IncludedText {
  path: string;
  text: string;
}

/** The text of a file to include; why it has none; or, in a check, that nobody reads it. */
export type ToInclude = { text: string } | { problem: string } | { unread: string };

/** Finds a file to include by its path from the repository's root. The same path has the same answer. */
export type Includes = (path: string) => ToInclude;

export const NOTHING_TO_INCLUDE: Includes = () => ({
  problem: "Only a file in the repository can include others: this definition has no commit that they could be of",
});

/** Files that are there as texts, and which of them a file includes, directly or not. */
export class KnownFiles {
  readonly #texts: Map<string, ToInclude>;
  readonly #otherwise: Includes;
  readonly #used = new Set<string>();

  constructor(texts: ReadonlyMap<string, ToInclude>, otherwise: Includes) {
    this.#texts = new Map(texts);
    this.#otherwise = otherwise;
  }

  readonly find: Includes = (path) => {
    this.#used.add(path);
    const file = this.#texts.get(path) ?? this.#otherwise(path);
    this.#texts.set(path, file);
    return file;
  };

  /** The files that were included, in the order of their paths. */
  get used(): IncludedText[] {
    return [...this.#used].sort().flatMap((path) => {
      const file = this.#texts.get(path);
      return file && "text" in file ? [{ path, text: file.text }] : [];
    });
  }
}

/**
 * What is hashed of a plan: the file as it is, or, where it includes others, all of them. No file of the first kind
 * looks like the second: NUL is in none.
 */
export const hashedText = (text: string, includes: readonly IncludedText[]): string => {
  if (includes.length === 0) return text;
  const rows = includes.map(({ path, text }) => [path, text] as const);
  return `\0include\0${JSON.stringify([text, ...rows.sort(([left], [right]) => (left < right ? -1 : 1))])}`;
};

/** What is known of the files that one file includes while it is parsed. */
export class IncludeState {
  readonly find: Includes;
  readonly yaml: YamlSums = { tokens: 0, marks: 0 };
  /** Paths of the files that are being read, the outermost first. */
  readonly path: string[] = [];
  /** All that were asked for. */
  readonly asked = new Set<string>();
  /** What each was read as; null where it has mistakes. */
  readonly read = new Map<string, unknown>();
  /** Characters of all texts, each counted once. */
  characters: number;
  /** Steps that the file itself has from others. */
  steps = 0;
  /** Whether some were not read: their steps are not known. */
  hasUnread = false;

  constructor(text: string, find: Includes) {
    this.characters = text.length;
    this.find = find;
  }
}
