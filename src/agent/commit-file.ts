import { posix } from "node:path";
import { BuildFailure } from "./failure.ts";
import { type GitPlace, git } from "./git.ts";
import { gitTrouble } from "./git-trouble.ts";

/** A commit, and of one path in it what the tree says there is. */
export interface CommitWithFile {
  commitSha: string;
  /** As its author wrote it. */
  message: string;
  /** Null when the commit has nothing under the path; `text` is null for what is no file. */
  file: { mode: string; size: number; text: string | null } | null;
}

interface GitObject {
  hash: string;
  type: string;
  size: number;
  bytes: Buffer;
}

const LINE_END = 0x0a;

/** What `git cat-file --batch` wrote, object for object; null for one that is missing. */
const objectsIn = (output: Buffer): (GitObject | null)[] => {
  const objects: (GitObject | null)[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(LINE_END, at);
    const [, hash = "", type = "", size = ""] =
      /^([0-9a-f]+) (\w+) (\d+)$/.exec(output.toString("utf8", at, end)) ?? [];
    if (type === "") {
      objects.push(null);
      at = end + 1;
      continue;
    }
    objects.push({ hash, type, size: Number(size), bytes: output.subarray(end + 1, end + 1 + Number(size)) });
    at = end + 2 + Number(size);
  }
  return objects;
};

/** The mode of `name` in a tree: entries of `mode name NUL hash`, the hash in as many bytes as the repository's have. */
const modeIn = ({ bytes, hash }: GitObject, name: string): string | null => {
  const wanted = Buffer.from(name);
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const nul = bytes.indexOf(0, space);
    if (bytes.subarray(space + 1, nul).equals(wanted)) return bytes.toString("latin1", at, space);
    at = nul + 1 + hash.length / 2;
  }
  return null;
};

/**
 * Reads a commit and the file at `path` from the repository's objects, never through the file system: neither a link
 * nor anything behind one is followed. @throws BuildFailure when the commit is not there.
 */
export const readCommit = async (place: GitPlace, revision: string, path: string): Promise<CommitWithFile> => {
  const commit = `${revision}^{commit}`;
  const folder = posix.dirname(path);
  const asked = [commit, `${commit}:${folder === "." ? "" : folder}`, `${commit}:${path}`];
  const output = await git(place, ["cat-file", "--batch"], {}, asked.map((name) => `${name}\n`).join(""));
  if (output.code !== 0) throw gitTrouble("git cat-file", output.stderr);
  const [found, tree, blob] = objectsIn(output.stdout);
  if (!found) throw new BuildFailure("checkout-failed", `there is no commit ${revision} in the repository`);
  const text = found.bytes.toString("utf8");
  const mode = tree?.type === "tree" ? modeIn(tree, posix.basename(path)) : null;
  const content = blob?.type === "blob" ? blob : null;
  return {
    commitSha: found.hash,
    message: text.slice(text.indexOf("\n\n") + 2).trimEnd(),
    file: mode === null ? null : { mode, size: content?.size ?? 0, text: content?.bytes.toString("utf8") ?? null },
  };
};

/** The text of a pipeline file. @throws BuildFailure pipeline-invalid for what is no regular file of at most `limit` bytes */
export const pipelineText = ({ commitSha, file }: CommitWithFile, path: string, limit: number): string => {
  const refuse = (what: string): BuildFailure => new BuildFailure("pipeline-invalid", `${path}: ${what}`);
  if (!file)
    throw refuse(`commit ${commitSha} has no such file: add it, or change the pipeline's configPath or definition`);
  if (file.mode === "120000") throw refuse("is a symbolic link: the pipeline file must be a regular file");
  if (file.text === null || !file.mode.startsWith("100")) throw refuse("is no regular file");
  if (file.size > limit) throw refuse(`is larger than ${limit} bytes`);
  return file.text;
};
