/**
 * The folders that a step adds before the PATH of later steps. Lines of problems count from 1. Problems never quote the
 * file.
 */
interface PathFile {
  /** The folders in the order written. The search begins with the last one. */
  folders: string[];
  problems: { line: number; message: string }[];
}

const pathProblem = (line: string): string | null => {
  if (line.includes("\0")) return "the folder has a NUL character";
  if (line === "") return "the line is empty: in PATH it would mean the current folder";
  if (!line.startsWith("/")) return "must be the whole path of a folder, beginning with /";
  return line.includes(":") ? "the folder has a colon, which separates folders in PATH" : null;
};

/** Parses the file of MILLRACE_PATH, with one folder per line. */
export const readPathFile = (content: string): PathFile => {
  const lines = content.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const result: PathFile = { folders: [], problems: [] };
  for (const [index, line] of lines.entries()) {
    const message = pathProblem(line);
    if (message === null) result.folders.push(line);
    else result.problems.push({ line: index + 1, message });
  }
  return result;
};

/** Returns the folders in the order of the search. Each folder appears once, and the latest precedes all others. */
export const prependFolders = (folders: readonly string[], before: readonly string[]): string[] => [
  ...new Set([...folders.toReversed(), ...before]),
];

/** Returns the value of PATH with these folders before its original value. */
export const pathWith = (folders: readonly string[], path: string | undefined): string =>
  [...folders, ...(path === undefined || path === "" ? [] : [path])].join(":");
