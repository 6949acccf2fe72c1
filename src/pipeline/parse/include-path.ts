import { ConfigPath } from "../../protocol/pipeline.ts";

const OF_OTHERS =
  "Templates of other repositories come later: write the path of a file in this one, as `./ci/setup.yml`";

/** A name that git, or a file system which folds letter case or shortens names, takes for its own folder. */
const isGitFolder = (part: string): boolean => /^(?:\.git|git~\d+)(?:[ .:].*)?$/i.test(part);

/** The path from the repository's root that `include` names, or why it cannot be one. It says nothing of the file. */
export const includedPath = (written: string): { path: string } | { problem: string } => {
  if (written.includes("${{")) return { problem: "The path is plain text: nothing is put in place of ${{ }} here" };
  if (!written.startsWith("./") && /\/\/|@|^[\w.-]+:/.test(written)) return { problem: OF_OTHERS };
  const path = written.replace(/^\.\//, "");
  if (!ConfigPath.safeParse(path).success || path.split("/").some(isGitFolder))
    return { problem: "This must be the path of a file in the repository, without `..`, as `./ci/setup.yml`" };
  return written === path ? { problem: "Write `./` before the path: it counts from the repository's root" } : { path };
};
