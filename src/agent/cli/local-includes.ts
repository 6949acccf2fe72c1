import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { KnownFiles, type ToInclude } from "../../domain/plan/included-files.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { textOf } from "../checkout/included-files.ts";

/** The folder of the repository that a file is in: the nearest one above it with `.git`, else the current folder. */
const rootOf = (file: string): string => {
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return process.cwd();
  }
};

/** `root` has no links in it. A path that leads through one is refused, wherever the link points. */
const readIn = (root: string, path: string): ToInclude => {
  const file = join(root, path);
  if (realpathSync.native(file) !== file)
    return { problem: `${path} leads through a symbolic link, or differs in letter case: write the file's own path` };
  const opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(opened);
    if (!found.isFile()) return { problem: `${path} is not a regular file` };
    if (found.size > LIMITS.definitionCharacters)
      return { problem: `${path} is larger than ${LIMITS.definitionCharacters} bytes` };
    return textOf(readFileSync(opened), path);
  } finally {
    closeSync(opened);
  }
};

/** What a pipeline file includes, as it lies in the folder of its repository now. Nothing outside of it is read. */
export const filesBeside = (file: string): KnownFiles => {
  const root = realpathSync.native(rootOf(file));
  return new KnownFiles(new Map(), (path) => {
    try {
      return readIn(root, path);
    } catch (error) {
      return { problem: `${path} cannot be read in ${root} (${(error as NodeJS.ErrnoException).code})` };
    }
  });
};
