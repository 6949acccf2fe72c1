import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";
import { addOrigin, ensureSuccess, fetchWanted, INFINITE_DEPTH, initRepository, type Remote } from "./remote.ts";

/** Clocks of those who commit differ: how much older than the commit itself the history looked at first may be. */
const CLOCKS_DIFFER_SECONDS = 86_400;

/** Servers without filters ignore this one or refuse it; commits alone are a small part of a repository. */
const COMMITS_ALONE = "--filter=tree:0";

/** Whether a commit is an ancestor of a ref, or the same, as far as this repository has its history. */
export const isAncestor = async ({ context }: Remote, commit: string, ref: string): Promise<boolean> =>
  // Nothing is fetched for the answer, as git would where a filter left objects out.
  (await git({ ...context, protocols: [] }, ["merge-base", "--is-ancestor", commit, ref])).code === 0;

/**
 * Whether the host's branch has the commit in its history. Only commits are fetched of it, where the host can leave out
 * the rest, and first only those since the commit was made, where that is known.
 * @throws BuildFailure when the host's history cannot be fetched.
 */
export const isOnBranch = async (
  remote: Remote,
  ref: string,
  commit: string,
  madeAt: number | null,
): Promise<boolean> => {
  const everything = `--depth=${INFINITE_DEPTH}`;
  if (madeAt !== null) {
    const since = new Date(Math.max(madeAt - CLOCKS_DIFFER_SECONDS, 0) * 1000).toISOString();
    if ((await searchHistory(remote, ref, commit, [COMMITS_ALONE, `--shallow-since=${since}`])).isFound) return true;
  }
  const { output, isFound } = await searchHistory(remote, ref, commit, [COMMITS_ALONE, everything]);
  if (output.code === 0) return isFound;
  const whole = await searchHistory(remote, ref, commit, [everything]);
  ensureSuccess(whole.output, "git fetch", remote);
  return whole.isFound;
};

/** In a repository of its own each time: one that was told of a filter goes on fetching what it has not. */
const searchHistory = async ({ context, ...rest }: Remote, ref: string, commit: string, range: string[]) => {
  const folder = mkdtempSync(join(rest.tempFolder, "history-"));
  const history: Remote = { ...rest, context: { ...context, folder } };
  try {
    await initRepository(folder, commit.length === 64 ? "sha256" : "sha1");
    addOrigin(history);
    const output = await fetchWanted(history, [...range, "--no-tags"], [`+${ref}:refs/tip`]);
    return { output, isFound: output.code === 0 && (await isAncestor(history, commit, "refs/tip")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
