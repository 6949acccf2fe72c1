import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Checkout } from "../../domain/plan/plan.ts";
import { git } from "./git.ts";
import { ensureSuccess, gitWithCredential, type Remote } from "./remote.ts";

const recursively = (kind: Checkout["submodules"]): string[] => (kind === "recursive" ? ["--recursive"] : []);

/** What git says where a host has no shallow clones, or gives none of an older commit. */
const NOT_SHALLOW = /does not support shallow|unadvertised object/;

/**
 * Fetches the submodules with `depth` commits of history, 0 for all, and writes their files. Where a host cannot give
 * their commits so, it fetches all of it, as it does with the repository. @throws BuildFailure
 */
export const fetchSubmodules = async (remote: Remote, { submodules, depth }: Checkout): Promise<void> => {
  const update = (range: string[]) =>
    gitWithCredential(remote, [
      ...["submodule", "--quiet", "update", "--init", "--force", "--no-recommend-shallow"],
      ...[...range, ...recursively(submodules)],
    ]);
  let output = await update(depth === 0 ? [] : [`--depth=${depth}`]);
  if (depth !== 0 && NOT_SHALLOW.test(output.stderr)) {
    // A submodule that is there stays as shallow as it is.
    await git(remote.gitContext, ["submodule", "--quiet", "deinit", "--force", "--all"]);
    rmSync(join(remote.gitContext.folder, ".git/modules"), { recursive: true, force: true });
    output = await update([]);
  }
  ensureSuccess(output, "git submodule", remote);
};

/** Without its filters in the repository's settings, or the user's, LFS leaves its pointers and calls that a success. */
const LFS = ["lfs install --local --skip-repo", "lfs pull"];

/** Fetches the LFS files of the commit, and of its submodules where they are checked out. @throws BuildFailure */
export const fetchLfs = async (remote: Remote, { submodules }: Checkout): Promise<void> => {
  const run = async (args: string[]) => ensureSuccess(await gitWithCredential(remote, args), "git lfs pull", remote);
  for (const command of LFS) await run(command.split(" "));
  const inEach = LFS.map((command) => `git ${command}`).join(" && ");
  if (submodules !== "none") await run(["submodule", "--quiet", "foreach", ...recursively(submodules), inEach]);
};
