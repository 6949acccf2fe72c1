import type { ArtifactFile } from "../../protocol/artifact.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { clashIn } from "./same-name.ts";

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
