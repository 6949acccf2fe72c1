import type { Build } from "../../protocol/build.ts";

type Named = Pick<Build, "branch" | "tag" | "pull">;

/** Whether it is of a branch that has no name in the repository. */
export const isHeadOfFork = ({ branch, pull }: Named): boolean => pull !== null && branch.startsWith("refs/");

/** What a build is of, as people call it. */
export const refName = (build: Named): string =>
  isHeadOfFork(build) ? `pull request ${build.pull?.number}` : (build.tag ?? build.branch);
