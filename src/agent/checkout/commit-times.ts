import { existsSync, lstatSync, lutimesSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../protocol/units.ts";
import { type GitContext, git } from "./git.ts";
import { addOrigin, ensureSuccess, fetchRefspecs, initRepository, type Remote } from "./remote.ts";

/** 9999-12-31, in seconds. */
const LAST = 253_402_300_799;

/**
 * Returns the seconds that git prints for a commit's date. Returns null for an invalid date, because a commit's author
 * may write any date into it. Git prints 0 for an invalid number, and a number near 2^64 for a date before 1970.
 */
export const knownDate = (printed: string | undefined): number | null => {
  const seconds = Number(printed);
  return seconds > 0 && seconds <= LAST ? seconds : null;
};

/** The time for files with an unknown change date, in seconds: 2000-01-01. */
export const BEFORE = 946_684_800;

/** Archives and file systems support times from 1980 on. With a future time, tools would wait until that time. */
const OLDEST = 315_532_800;

const toBytes = (path: string): Buffer => Buffer.from(path, "latin1");

/**
 * Sets the times of files below a folder and follows no link, because paths and names come from the repository. `paths`
 * and the keys of `seconds` are bytes as latin1.
 */
export const fileTimes = (root: string, paths: readonly string[], seconds: ReadonlyMap<string, number>): void => {
  const base = Buffer.from(`${root}/`).toString("latin1");
  const now = Math.floor(Date.now() / 1000);
  const folders = new Map<string, boolean>([["", true]]);
  const isFolder = (path: string): boolean => {
    const isKnownFolder = folders.get(path);
    if (isKnownFolder !== undefined) return isKnownFolder;
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const is = isFolder(parent) && (stat(base + path)?.isDirectory() ?? false);
    folders.set(path, is);
    return is;
  };
  for (const path of paths) {
    if (!isFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))))) continue;
    const stats = stat(base + path);
    if (!stats || stats.isDirectory()) continue;
    const time = Math.min(Math.max(seconds.get(path) ?? BEFORE, OLDEST), now);
    lutimesSync(toBytes(base + path), time, time);
  }
};

const stat = (path: string) => lstatSync(toBytes(path), { throwIfNoEntry: false });

/** Commits of history to search. */
const MOST_COMMITS = 10_000;
/**
 * Limit for git's list of changes. The newest changes are first, so older files beyond the limit get no commit's time.
 */
const MOST_BYTES = 64 * MIB;

/**
 * Gives each file of the checked-out commit the time of the last first-parent commit that changed it. A merge counts as
 * the change for everything that it brings, so a file is never older than a build without the file's change. Call this
 * before any step runs.
 * @throws BuildFailure where the history cannot be fetched
 */
export const setCommitTimes = async (remote: Remote, commit: string, refspecs: string[]): Promise<void> => {
  // Fetch into another folder: after a filtered fetch, the build's own repository would keep fetching missing objects.
  const folder = mkdtempSync(join(remote.tempFolder, "times-"));
  const apart: Remote = { ...remote, gitContext: { ...remote.gitContext, folder } };
  try {
    await initRepository(folder, commit.length === 64 ? "sha256" : "sha1");
    addOrigin(apart);
    const range = [`--depth=${MOST_COMMITS}`, "--no-tags"];
    const filtered = await fetchRefspecs(apart, ["--filter=blob:none", ...range], refspecs);
    if (filtered.code !== 0) ensureSuccess(await fetchRefspecs(apart, range, refspecs), "git fetch", apart);
    const local = { ...apart.gitContext, protocols: [] };
    const files = await said(local, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit]);
    fileTimes(remote.gitContext.folder, files.split("\0").slice(0, -1), await lastChanges(local, commit));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Returns git's output with bytes as latin1, because a name may be invalid UTF-8. */
const said = async (context: GitContext, args: string[], input = ""): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytesRead = 0;
  const read = (chunk: Buffer): void => {
    bytesRead += chunk.length;
    if (bytesRead <= MOST_BYTES) chunks.push(chunk);
  };
  ensureSuccess(await git(context, args, { read }, input), `git ${args[0]}`);
  return Buffer.concat(chunks).toString("latin1");
};

/** Returns the seconds of each path's last change. */
const lastChanges = async (context: GitContext, commit: string): Promise<Map<string, number>> => {
  const listed = await said(context, ["rev-list", "--first-parent", "--parents", "--timestamp", commit]);
  const commits = listed
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" "));
  const times = new Map(commits.map(([seconds, id = ""]) => [id, knownDate(seconds) ?? BEFORE]));
  // The oldest commits' changes are unknown, because their parents are missing.
  const cut = shallowIn(context.folder);
  const pairs = commits.filter(([, id = ""]) => !cut.has(id)).map(([, id, parent = ""]) => `${id} ${parent}`.trim());
  if (pairs.length === 0) return new Map();
  const args = ["diff-tree", "--stdin", "-r", "-z", "--raw", "--abbrev=4", "--root", "--no-renames"];
  return parseLastChanges(await said(context, [...args, "--ignore-submodules=none"], `${pairs.join("\n")}\n`), times);
};

const shallowIn = (folder: string): Set<string> => {
  const file = join(folder, ".git/shallow");
  return new Set(existsSync(file) ? readFileSync(file, "latin1").split("\n") : []);
};

/**
 * Parses `diff-tree -z --raw`: a commit's id, then `:modes ids kind` and a path for each change, newest commit first.
 */
const parseLastChanges = (changed: string, times: Map<string, number>): Map<string, number> => {
  const last = new Map<string, number>();
  const words = changed.split("\0");
  let seconds = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (!word.startsWith(":")) seconds = times.get(word) ?? seconds;
    else {
      index++;
      const path = words[index] ?? "";
      if (!last.has(path)) last.set(path, seconds);
    }
  }
  return last;
};
