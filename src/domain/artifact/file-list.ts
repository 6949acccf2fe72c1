import type { ArtifactFile } from "../../protocol/artifact.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { withoutEnd } from "../text.ts";

/** What HFS+ does not see in a name (Apple TN1150; git refuses the same in `.git`). */
const INVISIBLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** The main stream of a file or folder by its whole name on NTFS. */
const MAIN_STREAM = /::\$[a-z_]{1,20}$/;

/** Windows drops points and spaces at the end of a name. */
const foldPart = (part: string): string => withoutEnd(part.replace(MAIN_STREAM, ""), ". ");

const foldPath = (path: string): string[] =>
  path.replace(INVISIBLE, "").normalize("NFC").toLowerCase().normalize("NFC").split("/").map(foldPart);

/**
 * What a file system may take for the same name. Letter case, the composition of letters, characters that nobody sees
 * and the end of a part do not count.
 */
export const sameName = (path: string): string => foldPath(path).join("/");

/** Two paths that cannot stand beside each other, by their places in the list. */
interface Clash {
  /** The same name on some system, or the first is a file where the other needs a folder. */
  kind: "same" | "folder";
  index: number;
  other: number;
}

/** The first clash in the order of names; null where there is none. Takes as long as sorting the paths. */
export const clashIn = (paths: readonly string[]): Clash | null => {
  // A separator below all other characters: what is in a folder comes right after a file of its name.
  const names = paths.map((path) => foldPath(path).join("\0"));
  const order = [...names.keys()].sort((a, b) => (names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : a - b));
  for (const [place, other] of order.entries()) {
    const index = order[place - 1];
    if (index === undefined) continue;
    if (names[index] === names[other]) return { kind: "same", index: other, other: index };
    if (names[other]!.startsWith(`${names[index]}\0`)) return { kind: "folder", index, other };
  }
  return null;
};

/** A file with the place of its bytes in the artifact. */
export interface PlacedFile extends ArtifactFile {
  start: number;
  /** Exclusive. */
  end: number;
}

/** What may not be in a name on any system: controls, and what Windows takes for a folder or a drive. */
const FORBIDDEN = /[\x00-\x1F\x7F-\x9F\\]/;
const DRIVE = /^[A-Za-z]:/;

/** Why the path cannot be one of an artifact's files, in words for its sender; null where it can. */
export const pathProblem = (path: string): string | null => {
  if (new TextEncoder().encode(path).length > LIMITS.artifactPathBytes)
    return `has more than ${withCommas(LIMITS.artifactPathBytes)} bytes`;
  if (!path.isWellFormed()) return "has half a character";
  if (FORBIDDEN.test(path)) return "has a control character or a backslash";
  if (DRIVE.test(path)) return "begins with the letter of a drive";
  if (path.startsWith("/")) return "is absolute";
  const parts = path.split("/");
  if (parts.includes("..") || parts.includes(".")) return "has a part . or ..";
  return parts.includes("") ? "has an empty part" : null;
};

interface ListProblem {
  /** Of the file; null where the list as a whole is wrong. */
  index: number | null;
  problem: string;
}

const CLASHES = { same: "is the same as another one on some systems", folder: "is the folder of another one" };

/** What is wrong with the list of an artifact of so many bytes and files; null where nothing is. */
export const listProblem = (
  list: readonly ArtifactFile[],
  { bytes, files }: { bytes: number; files: number },
): ListProblem | null => {
  const whole = (problem: string): ListProblem => ({ index: null, problem });
  if (list.length !== files)
    return whole(`has ${withCommas(list.length)} files, and the artifact ${withCommas(files)}`);
  for (const [index, { path }] of list.entries()) {
    const problem = pathProblem(path);
    if (problem) return { index, problem };
  }
  const clash = clashIn(list.map(({ path }) => path));
  if (clash) return { index: clash.index, problem: CLASHES[clash.kind] };
  const sum = list.reduce((total, { size }) => total + size, 0);
  return sum === bytes ? null : whole(`has files of ${withCommas(sum)} bytes, and the artifact ${withCommas(bytes)}`);
};

/** The files with the places of their bytes, which lie one after the other. */
export const placeFiles = (list: readonly ArtifactFile[]): PlacedFile[] => {
  let at = 0;
  return list.map((file) => {
    const start = at;
    at += file.size;
    return { ...file, start, end: at };
  });
};

/** The files of a folder, at any depth; all of them where none is named. */
export const inFolder = <F extends Pick<ArtifactFile, "path">>(list: readonly F[], folder: string | null): F[] => {
  if (folder === null || folder === "") return [...list];
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return list.filter(({ path }) => path.startsWith(prefix));
};
