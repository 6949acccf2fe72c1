import type { YamlSums } from "../yaml/yaml-document.ts";

/** An included file, by its path from the repository's root. */
export interface IncludedText {
  path: string;
  text: string;
}

/**
 * The text of a file to include, or the reason why it has no text. In a check, the answer may be that nobody reads the
 * file.
 */
export type ToInclude = { text: string } | { problem: string } | { unread: string };

/** Finds a file to include by its path from the repository's root. The same path always gives the same answer. */
export type Includes = (path: string) => ToInclude;

export const NOTHING_TO_INCLUDE: Includes = () => ({
  problem: "Only a file in the repository can include others: this definition belongs to no commit",
});

/** Files with known texts, and the files among them that a file includes, directly or indirectly. */
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

  /** The included files, in the order of their paths. */
  get used(): IncludedText[] {
    return [...this.#used].sort().flatMap((path) => {
      const file = this.#texts.get(path);
      return file && "text" in file ? [{ path, text: file.text }] : [];
    });
  }
}

/**
 * Returns the text to hash for a plan. This is the file itself, or if it includes others, all of the files. The two
 * forms never collide, because no file contains NUL.
 */
export const hashedText = (text: string, includes: readonly IncludedText[]): string => {
  if (includes.length === 0) return text;
  const rows = includes.map(({ path, text }) => [path, text] as const);
  return `\0include\0${JSON.stringify([text, ...rows.sort(([left], [right]) => (left < right ? -1 : 1))])}`;
};

/** The state of one file's includes during parsing. */
export class IncludeState {
  readonly find: Includes;
  readonly yaml: YamlSums = { tokens: 0, marks: 0 };
  /** Paths of the files that are being read, outermost first. */
  readonly path: string[] = [];
  /** All requested paths. */
  readonly asked = new Set<string>();
  /** The result of reading each file; null if it has mistakes. */
  readonly read = new Map<string, unknown>();
  /** The characters of all texts. Each text counts once. */
  characters: number;
  /** The number of the file's steps that come from other files. */
  steps = 0;
  /** Whether some files were not read, so that nobody knows their steps. */
  hasUnread = false;

  constructor(text: string, find: Includes) {
    this.characters = text.length;
    this.find = find;
  }
}
