import type { ArtifactFile } from "../../protocol/artifact.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { withoutEnd } from "../text.ts";

/** Characters that HFS+ ignores in a name (Apple TN1150; git rejects the same ones in `.git`). */
const INVISIBLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** The main stream of a file or folder, by its full name on NTFS. */
const MAIN_STREAM = /::\$[a-z_]{1,20}$/;

/** Windows drops dots and spaces at the end of a name. */
const foldPart = (part: string): string => withoutEnd(part.replace(MAIN_STREAM, ""), ". ");

const foldPath = (path: string): string[] =>
  path.replace(INVISIBLE, "").normalize("NFC").toLowerCase().normalize("NFC").split("/").map(foldPart);

/**
 * Returns a form that is equal for names that some file system treats as the same. It ignores letter case, the
 * composition of letters, invisible characters and the end of a part.
 */
export const sameName = (path: string): string => foldPath(path).join("/");

/** Two paths that cannot coexist, by their positions in the list. */
interface Clash {
  /**
   * The kind of clash. Either the names are the same on some system, or the first is a file where the other needs a
   * folder.
   */
  kind: "same" | "folder";
  index: number;
  other: number;
}

/** Returns the first clash in the order of names; null without a clash. Takes as long as sorting the paths. */
export const clashIn = (paths: readonly string[]): Clash | null => {
  // This separator sorts below all other characters, so that the content of a folder comes right after a file with the
  // folder's name.
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

/** A file with the position of its bytes in the artifact. */
export interface PlacedFile extends ArtifactFile {
  start: number;
  /** The end of the file's bytes, exclusive. */
  end: number;
}

/**
 * Characters that a name must not have on any system: control characters, and characters that Windows reads as a folder
 * or a drive.
 */
const FORBIDDEN = /[\x00-\x1F\x7F-\x9F\\]/;
const DRIVE = /^[A-Za-z]:/;

/** Returns why the path cannot belong to an artifact, in words for its sender; null if it can. */
export const pathProblem = (path: string): string | null => {
  if (new TextEncoder().encode(path).length > LIMITS.artifactPathBytes)
    return `has more than ${withCommas(LIMITS.artifactPathBytes)} bytes`;
  if (!path.isWellFormed()) return "has an incomplete character";
  if (FORBIDDEN.test(path)) return "has a control character or a backslash";
  if (DRIVE.test(path)) return "begins with a drive letter";
  if (path.startsWith("/")) return "is absolute";
  const parts = path.split("/");
  if (parts.includes("..") || parts.includes(".")) return "has a . or .. part";
  return parts.includes("") ? "has an empty part" : null;
};

interface ListProblem {
  /** The index of the file; null if the list as a whole is wrong. */
  index: number | null;
  problem: string;
}

const CLASHES = { same: "is the same as another path on some systems", folder: "is also the folder of another path" };

/** Returns the problem with the list of an artifact with this many bytes and files; null if the list is valid. */
export const listProblem = (
  list: readonly ArtifactFile[],
  { bytes, files }: { bytes: number; files: number },
): ListProblem | null => {
  const whole = (problem: string): ListProblem => ({ index: null, problem });
  if (list.length !== files)
    return whole(`has ${withCommas(list.length)} files, but the artifact has ${withCommas(files)}`);
  for (const [index, { path }] of list.entries()) {
    const problem = pathProblem(path);
    if (problem) return { index, problem };
  }
  const clash = clashIn(list.map(({ path }) => path));
  if (clash) return { index: clash.index, problem: CLASHES[clash.kind] };
  const sum = list.reduce((total, { size }) => total + size, 0);
  return sum === bytes
    ? null
    : whole(`has files of ${withCommas(sum)} bytes, but the artifact has ${withCommas(bytes)}`);
};

/** Returns the files with the positions of their bytes, one after the other. */
export const placeFiles = (list: readonly ArtifactFile[]): PlacedFile[] => {
  let at = 0;
  return list.map((file) => {
    const start = at;
    at += file.size;
    return { ...file, start, end: at };
  });
};

/** Returns the files in a folder, at any depth. Returns all files if no folder is named. */
export const inFolder = <F extends Pick<ArtifactFile, "path">>(list: readonly F[], folder: string | null): F[] => {
  if (folder === null || folder === "") return [...list];
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return list.filter(({ path }) => path.startsWith(prefix));
};
