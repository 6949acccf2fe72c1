import { basename } from "node:path";
import { refOf } from "../../domain/git-ref.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { asksForChanges } from "../build/errand.ts";
import type { ComparedFiles } from "../build/job-facts.ts";
import { type GitContext, git } from "../checkout/git.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { buildVariables } from "../steps/step-environment.ts";
import { platformName } from "./capabilities.ts";

/** Where a clone has the default branch of its origin; a repository without one may have it under its usual names. */
const DEFAULT_BRANCHES = [
  "refs/remotes/origin/HEAD",
  ...["refs/remotes/origin/main", "refs/remotes/origin/master"],
  ...["refs/heads/main", "refs/heads/master"],
];

const UNKNOWN: ComparedFiles = { base: null, files: null };

const NAMES = ["--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "-z"];

const linesOf = (output: Buffer): string[] => output.toString("utf8").split("\0").slice(0, -1);

/**
 * What the files in the folder differ in from where the checkout's history left the default branch; new files that git
 * does not ignore are among them. Unknown without such a branch.
 */
export const localChanges = async (gitContext: GitContext): Promise<ComparedFiles> => {
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

export interface LocalFacts {
  /** Variables that nothing overrides. */
  fixed: Record<string, string>;
  facts: JobContext;
}

const LOCAL = "local";

/** The folder needs no repository and no commit: the facts then say "local" or null. */
export const localFacts = async (
  id: string,
  text: string,
  env: Record<string, string>,
  tree: ProcessTree,
): Promise<LocalFacts> => {
  const gitContext = { folder: process.cwd(), protocols: [], tree };
  const [head, commit, { base, files }] = await Promise.all([
    git(gitContext, ["symbolic-ref", "--quiet", "HEAD"]),
    git(gitContext, ["rev-parse", "HEAD"]),
    asksForChanges(text) ? localChanges(gitContext) : { base: null, files: null },
  ]);
  const commitSha = commit.code === 0 ? commit.stdout.toString("latin1").trim() : null;
  const ref = head.code === 0 ? head.stdout.toString("utf8").trim() : "HEAD";
  const branch = commitSha === null ? LOCAL : ref.replace(/^refs\/heads\//, "");
  const fullName = basename(process.cwd());
  const build = { id, number: 0, branch, ref: refOf(branch), event: LOCAL, tag: null, pull: null, schedule: null };
  const names = { build, repository: { fullName }, pipeline: { name: LOCAL } };
  const fixed = buildVariables(names, { commitSha, base }, LOCAL, "");
  const facts: JobContext = {
    env: { CI: "true", ...env, ...fixed },
    secretKeys: [],
    runKeys: Object.keys(env),
    build: { ...build, trusted: true, base, commit: commitSha, message: null, attempt: 1, trigger: LOCAL },
    changedFiles: files,
    repository: { id: "", fullName, cloneUrl: "" },
    agent: { id: "", name: LOCAL, platform: platformName() },
  };
  return { fixed, facts };
};
