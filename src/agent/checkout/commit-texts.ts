import { BuildFailure } from "../failure.ts";
import { objectsIn } from "./commit-file.ts";
import { type GitContext, git } from "./git.ts";
import { gitFailure } from "./git-failure.ts";

/**
 * The texts of those paths that are regular files of the commit, read from the repository's objects, so that no link is
 * followed. @throws BuildFailure for one of more than `limit` bytes
 */
export const textsInCommit = async (
  context: GitContext,
  commitSha: string,
  paths: readonly string[],
  limit: number,
): Promise<Map<string, string>> => {
  const list = ["--literal-pathspecs", "ls-tree", "--full-tree", "-lz", commitSha, "--", ...paths];
  const listed = await git(context, list);
  if (listed.code !== 0) throw gitFailure("git ls-tree", listed.stderr);
  const found = listed.stdout
    .toString("utf8")
    .split("\0")
    .flatMap((line) => {
      const [, mode = "", blob = "", size = "", path = ""] = /^(\d+) blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(line) ?? [];
      return mode.startsWith("100") ? [{ blob, size: Number(size), path }] : [];
    });
  for (const { path, size } of found)
    if (size > limit) throw new BuildFailure("pipeline-invalid", `${path} is larger than ${limit} bytes`);
  if (found.length === 0) return new Map();
  const asked = found.map(({ blob }) => `${blob}\n`).join("");
  const output = await git(context, ["cat-file", "--batch"], {}, asked);
  if (output.code !== 0) throw gitFailure("git cat-file", output.stderr);
  const objects = objectsIn(output.stdout);
  return new Map(
    found.flatMap(({ path }, index) => {
      const object = objects[index];
      return object ? [[path, object.bytes.toString("utf8")] as const] : [];
    }),
  );
};
