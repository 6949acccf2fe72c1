import type { ArtifactFile } from "../../protocol/artifact.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";

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

/** What a file system may take for the same name: letter case and the composition of letters do not count. */
export const sameName = (path: string): string => path.normalize("NFC").toLowerCase().normalize("NFC");

export interface ListProblem {
  /** Of the file; null where the list as a whole is wrong. */
  index: number | null;
  problem: string;
}

/** What is wrong with the list of an artifact of so many bytes and files; null where nothing is. */
export const listProblem = (
  list: readonly ArtifactFile[],
  { bytes, files }: { bytes: number; files: number },
): ListProblem | null => {
  const whole = (problem: string): ListProblem => ({ index: null, problem });
  if (list.length !== files)
    return whole(`has ${withCommas(list.length)} files, and the artifact ${withCommas(files)}`);
  const names = new Set<string>();
  const folders = new Set<string>();
  for (const [index, { path }] of list.entries()) {
    const problem = pathProblem(path);
    if (problem) return { index, problem };
    const name = sameName(path);
    if (names.has(name)) return { index, problem: "is the same as another one on some systems" };
    names.add(name);
    for (let end = name.lastIndexOf("/"); end > 0; end = name.lastIndexOf("/", end - 1))
      folders.add(name.slice(0, end));
  }
  const both = list.findIndex(({ path }) => folders.has(sameName(path)));
  if (both >= 0) return { index: both, problem: "is the folder of another one" };
  const sum = list.reduce((total, { size }) => total + size, 0);
  return sum === bytes ? null : whole(`has files of ${withCommas(sum)} bytes, and the artifact ${withCommas(bytes)}`);
};

/** The files with the places of their bytes, which lie one after the other. */
export const placed = (list: readonly ArtifactFile[]): PlacedFile[] => {
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
