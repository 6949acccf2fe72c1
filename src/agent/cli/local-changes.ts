import { type GitContext, git } from "../checkout/git.ts";
import type { Comparison } from "../job-facts.ts";

/** Where a clone has the default branch of its origin; a repository without one may have it under its usual names. */
const DEFAULT_BRANCHES = [
  "refs/remotes/origin/HEAD",
  ...["refs/remotes/origin/main", "refs/remotes/origin/master"],
  ...["refs/heads/main", "refs/heads/master"],
];

const UNKNOWN: Comparison = { base: null, files: null };

const NAMES = ["--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "-z"];

const linesOf = (output: Buffer): string[] => output.toString("utf8").split("\0").slice(0, -1);

/**
 * What the files in the folder differ in from where the checkout's history left the default branch; new files that git
 * does not ignore are among them. Unknown without such a branch.
 */
export const localChanges = async (gitContext: GitContext): Promise<Comparison> => {
  for (const branch of DEFAULT_BRANCHES) {
    const found = await git(gitContext, ["merge-base", branch, "HEAD"]);
    if (found.code !== 0) continue;
    const base = found.stdout.toString("latin1").trim();
    const [changed, added] = await Promise.all([
      git(gitContext, ["diff", ...NAMES, "--ignore-submodules=untracked", base, "--"]),
      git(gitContext, ["ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/"]),
    ]);
    if (changed.code !== 0 || added.code !== 0) return UNKNOWN;
    return { base, files: [...linesOf(changed.stdout), ...linesOf(added.stdout)] };
  }
  return UNKNOWN;
};
