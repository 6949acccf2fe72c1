import { lstatSync, realpathSync, type Stats } from "node:fs";
import { join } from "node:path";

/** Hooks that the machine's owner can run around each job. */
export type HookName = "before-job" | "after-job";

const FOLDER = "hooks";
const WRITABLE_BY_OTHERS = 0o022;
const EXECUTABLE_BY_OWNER = 0o100;

/**
 * Somebody other than the agent's user may have written a hook. The agent accepts no job until the owner fixes this.
 */
export class UnsafeHook extends Error {}

const find = (path: string): Stats | null => lstatSync(path, { throwIfNoEntry: false }) ?? null;

/**
 * Returns the permission problem of a hook file or folder, worded to follow its path. Returns null without a problem.
 */
const permissionProblem = (stats: Stats, kind: "file" | "folder"): string | null => {
  if (stats.isSymbolicLink()) return "is a link";
  if (kind === "folder" ? !stats.isDirectory() : !stats.isFile()) return `is not a ${kind}`;
  if (stats.uid !== process.getuid?.()) return "does not belong to the agent's user (chown)";
  if ((stats.mode & WRITABLE_BY_OTHERS) !== 0) return "can be written by users other than its owner (chmod go-w)";
  if (kind === "file" && (stats.mode & EXECUTABLE_BY_OWNER) === 0) return "is not executable (chmod u+x)";
  return null;
};

const check = (path: string, stats: Stats, kind: "file" | "folder"): void => {
  const problem = permissionProblem(stats, kind);
  if (problem !== null) throw new UnsafeHook(`${path} ${problem}`);
};

export interface HookFiles {
  /** The folder that hooks run in. */
  folder: string;
  /** The absolute path of each existing hook. */
  paths: Partial<Record<HookName, string>>;
}

/**
 * Finds the hooks in the agent's state folder; null without hooks. Nobody except the agent's user can have written
 * them, or created them and their folder.
 * @throws UnsafeHook
 */
export const findHooks = (state: string): HookFiles | null => {
  const folder = join(state, FOLDER);
  const ofFolder = find(folder);
  if (ofFolder === null) return null;
  const root = realpathSync(state);
  check(root, lstatSync(root), "folder");
  check(folder, ofFolder, "folder");
  const paths: HookFiles["paths"] = {};
  for (const name of ["before-job", "after-job"] as const) {
    const path = join(folder, name);
    const stats = find(path);
    if (stats === null) continue;
    check(path, stats, "file");
    paths[name] = path;
  }
  return Object.keys(paths).length === 0 ? null : { folder, paths };
};
