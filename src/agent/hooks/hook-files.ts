import { lstatSync, realpathSync, type Stats } from "node:fs";
import { join } from "node:path";

/** What the owner of the machine may have run around each job. */
export type HookName = "before-job" | "after-job";

const FOLDER = "hooks";
const WRITABLE_BY_OTHERS = 0o022;
const EXECUTABLE_BY_OWNER = 0o100;

/** A hook that somebody else than the agent's user may have written. The agent takes no job until it is put right. */
export class UnsafeHook extends Error {}

const find = (path: string): Stats | null => lstatSync(path, { throwIfNoEntry: false }) ?? null;

/** What is wrong with a file or folder of the hooks, worded to follow its path; null where nothing is. */
const permissionProblem = (stats: Stats, kind: "file" | "folder"): string | null => {
  if (stats.isSymbolicLink()) return "is a link";
  if (kind === "folder" ? !stats.isDirectory() : !stats.isFile()) return `is no ${kind}`;
  if (stats.uid !== process.getuid?.()) return "does not belong to the agent's user (chown)";
  if ((stats.mode & WRITABLE_BY_OTHERS) !== 0) return "can be written by others than its owner (chmod go-w)";
  if (kind === "file" && (stats.mode & EXECUTABLE_BY_OWNER) === 0) return "is not executable (chmod u+x)";
  return null;
};

const check = (path: string, stats: Stats, kind: "file" | "folder"): void => {
  const problem = permissionProblem(stats, kind);
  if (problem !== null) throw new UnsafeHook(`${path} ${problem}`);
};

export interface HookFiles {
  /** The folder that hooks are run in. */
  folder: string;
  /** The whole path of each hook there is. */
  paths: Partial<Record<HookName, string>>;
}

/**
 * The hooks in the agent's state folder; null where there are none. Nobody but the agent's user can have written them,
 * nor put them or their folder there. @throws UnsafeHook
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
