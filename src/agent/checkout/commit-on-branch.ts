import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";
import { addOrigin, ensureSuccess, fetchRefspecs, INFINITE_DEPTH, initRepository, type Remote } from "./remote.ts";

/** Clocks of committers differ: the first search starts this many seconds before the commit's own date. */
const CLOCK_SKEW_SECONDS = 86_400;

/** Fetches commits without trees and files. Servers without partial clone ignore or refuse it. */
const COMMITS_ONLY = "--filter=tree:0";

/** Whether a commit is the ref's commit or an ancestor of it, in the history that this repository has fetched. */
export const isAncestor = async ({ gitContext }: Remote, commit: string, ref: string): Promise<boolean> =>
  // No protocol is allowed: git would fetch the objects that a filter left out.
  (await git({ ...gitContext, protocols: [] }, ["merge-base", "--is-ancestor", commit, ref])).code === 0;

/**
 * Whether the commit is in the history of the host's branch. Fetches only commits where the host supports that, and
 * first only those since `committedAt` (seconds), where it is known.
 * @throws BuildFailure when the history cannot be fetched.
 */
export const isOnBranch = async (
  remote: Remote,
  ref: string,
  commit: string,
  committedAt: number | null,
): Promise<boolean> => {
  const everything = `--depth=${INFINITE_DEPTH}`;
  if (committedAt !== null) {
    const since = new Date(Math.max(committedAt - CLOCK_SKEW_SECONDS, 0) * 1000).toISOString();
    if ((await searchHistory(remote, ref, commit, [COMMITS_ONLY, `--shallow-since=${since}`])).isFound) return true;
  }
  const { output, isFound } = await searchHistory(remote, ref, commit, [COMMITS_ONLY, everything]);
  if (output.code === 0) return isFound;
  const whole = await searchHistory(remote, ref, commit, [everything]);
  ensureSuccess(whole.output, "git fetch", remote);
  return whole.isFound;
};

/** Uses a new repository each time: one that was fetched with a filter would keep fetching missing objects. */
const searchHistory = async ({ gitContext, ...rest }: Remote, ref: string, commit: string, range: string[]) => {
  const folder = mkdtempSync(join(rest.tempFolder, "history-"));
  const history: Remote = { ...rest, gitContext: { ...gitContext, folder } };
  try {
    await initRepository(folder, commit.length === 64 ? "sha256" : "sha1");
    addOrigin(history);
    const output = await fetchRefspecs(history, [...range, "--no-tags"], [`+${ref}:refs/tip`]);
    return { output, isFound: output.code === 0 && (await isAncestor(history, commit, "refs/tip")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
