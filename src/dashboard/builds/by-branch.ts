import type { Build } from "../../protocol/build.ts";

/** Builds of one branch, tag or pull request of a repository, the newest first. */
export interface BranchOfBuilds {
  key: string;
  newest: Build;
  builds: Build[];
}

const keyOf = ({ repoId, pull, ref }: Build): string => `${repoId}/${pull ? `#${pull.number}` : ref}`;

/** The builds of a list, which is newest first, by what they are of. The branch with the newest build comes first. */
export const byBranch = (builds: readonly Build[]): BranchOfBuilds[] =>
  [...Map.groupBy(builds, keyOf)].map(([key, ofBranch]) => ({ key, newest: ofBranch[0]!, builds: ofBranch }));
