import { withoutEnd } from "../text-end.ts";

/** What HFS+ does not see in a name (Apple TN1150; git refuses the same in `.git`). */
const INVISIBLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** The main stream of a file or folder by its whole name on NTFS. */
const MAIN_STREAM = /::\$[a-z_]{1,20}$/;

/** Windows drops points and spaces at the end of a name. */
const partOf = (part: string): string => withoutEnd(part.replace(MAIN_STREAM, ""), ". ");

const partsOf = (path: string): string[] =>
  path.replace(INVISIBLE, "").normalize("NFC").toLowerCase().normalize("NFC").split("/").map(partOf);

/**
 * What a file system may take for the same name. Letter case, the composition of letters, characters that nobody sees
 * and the end of a part do not count.
 */
export const sameName = (path: string): string => partsOf(path).join("/");

/** Two paths that cannot stand beside each other, by their places in the list. */
interface Clash {
  /** The same name on some system, or the first is a file where the other needs a folder. */
  kind: "same" | "folder";
  index: number;
  other: number;
}

/** The first clash in the order of names; null where there is none. Takes as long as the paths are, to sort them. */
export const clashIn = (paths: readonly string[]): Clash | null => {
  // A separator below all other characters: what is in a folder comes right after a file of its name.
  const names = paths.map((path) => partsOf(path).join("\0"));
  const order = [...names.keys()].sort((a, b) => (names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : a - b));
  for (const [place, other] of order.entries()) {
    const index = order[place - 1];
    if (index === undefined) continue;
    if (names[index] === names[other]) return { kind: "same", index: other, other: index };
    if (names[other]!.startsWith(`${names[index]}\0`)) return { kind: "folder", index, other };
  }
  return null;
};
