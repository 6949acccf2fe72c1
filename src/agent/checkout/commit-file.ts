import { MIB } from "../../protocol/units.ts";
import { BuildFailure } from "../build/failure.ts";
import { type GitContext, git } from "./git.ts";
import { gitFailure } from "./git-failure.ts";

/** Git's name of an encoding, and its decoder: UTF-8 where nobody knows it. */
const decoderFor = (label: string): TextDecoder => {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
};

/**
 * The message in a commit's object, in the encoding that its header names (git-commit(1), i18n.commitEncoding). It is
 * empty where no empty line ends the headers, as some programs write a commit without a message.
 */
const messageIn = (commit: Buffer): string => {
  const end = commit.indexOf("\n\n");
  if (end < 0) return "";
  const headers = commit.toString("latin1", 0, end);
  const [, label = "utf-8"] = /^encoding (\S+)$/m.exec(headers) ?? [];
  return decoderFor(label)
    .decode(commit.subarray(end + 2))
    .trimEnd();
};

/** The text of bytes, with its byte order mark; null where they are no UTF-8. */
export const utf8Text = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};

export const NOT_UTF8 = "is not UTF-8: save it in that encoding";

/** A commit, and the entry of one path in its tree. */
export interface CommitWithFile {
  commitSha: string;
  /** The commit message, cut at MESSAGE_LIMIT. */
  message: string;
  /** Null when the commit has no such path; `text` is null for what is no file, no UTF-8, or larger than READ_LIMIT. */
  file: { mode: string; size: number; text: string | null } | null;
}

/** Bytes of the largest file that is read. Pipeline files must be much smaller. */
const READ_LIMIT = 2 * MIB;

/** Characters of a commit message that are kept: it may become a variable of a step. */
const MESSAGE_LIMIT = 65_536;

interface GitObject {
  hash: string;
  bytes: Buffer;
}

const LINE_END = 0x0a;

/**
 * Parses the output of `git cat-file --batch`. A missing object is null. When the output was cut, the last object is
 * shorter than its size.
 * @throws BuildFailure when the output is not in git's format.
 */
export const objectsIn = (output: Buffer): (GitObject | null)[] => {
  const objects: (GitObject | null)[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(LINE_END, at);
    const header = end < 0 ? "" : output.toString("utf8", at, end);
    const [, hash, size] = /^([0-9a-f]+) \w+ (\d+)$/.exec(header) ?? [];
    if (hash === undefined && !/ (?:missing|ambiguous)$/.test(header))
      throw new BuildFailure("checkout-failed", "git cat-file failed: cannot read its output");
    objects.push(hash === undefined ? null : { hash, bytes: output.subarray(end + 1, end + 1 + Number(size)) });
    at = end + 1 + (hash === undefined ? 0 : Number(size) + 1);
  }
  return objects;
};

/**
 * Reads a commit and the file at `path` from the repository's objects, never from the file system, so that no link is
 * followed. @throws BuildFailure when the commit does not exist.
 */
export const readCommit = async (context: GitContext, revision: string, path: string): Promise<CommitWithFile> => {
  const commit = `${revision}^{commit}`;
  const listed = await git(context, ["--literal-pathspecs", "ls-tree", "--full-tree", "-lz", commit, "--", path]);
  const entry = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t/.exec(listed.stdout.toString("utf8"));
  const [, mode, type, blob = "", size = "-"] = entry ?? [];
  const isRead = type === "blob" && Number(size) <= READ_LIMIT;
  // The commit is the last object: the output may be cut inside its message.
  const objectNames = isRead ? [blob, commit] : [commit];
  const output = await git(context, ["cat-file", "--batch"], {}, objectNames.map((name) => `${name}\n`).join(""));
  if (output.code !== 0) throw gitFailure("git cat-file", output.stderr);
  const objects = objectsIn(output.stdout);
  const commitObject = objects.at(-1);
  if (!commitObject) throw new BuildFailure("checkout-failed", `there is no commit ${revision} in the repository`);
  if (listed.code !== 0) throw gitFailure("git ls-tree", listed.stderr);
  const content = isRead && objects[0] ? utf8Text(objects[0].bytes) : null;
  return {
    commitSha: commitObject.hash,
    message: messageIn(commitObject.bytes).slice(0, MESSAGE_LIMIT).toWellFormed(),
    file: mode === undefined ? null : { mode, size: Number(size) || 0, text: content },
  };
};

/** The text of the pipeline file. @throws BuildFailure pipeline-invalid unless it is a regular file of at most `limit` bytes. */
export const pipelineText = ({ commitSha, file }: CommitWithFile, path: string, limit: number): string => {
  const refuse = (what: string): BuildFailure => new BuildFailure("pipeline-invalid", `${path}: ${what}`);
  if (!file)
    throw refuse(`commit ${commitSha} has no such file: add it, or change the pipeline's configPath or definition`);
  if (file.mode === "120000") throw refuse("is a symbolic link: the pipeline file must be a regular file");
  if (!file.mode.startsWith("100")) throw refuse("is not a regular file");
  if (file.size > limit) throw refuse(`is larger than ${limit} bytes`);
  if (file.text === null) throw refuse(NOT_UTF8);
  return file.text;
};

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
  const files = listed.stdout
    .toString("utf8")
    .split("\0")
    .flatMap((line) => {
      const [, mode = "", blob = "", size = "", path = ""] = /^(\d+) blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(line) ?? [];
      return mode.startsWith("100") ? [{ blob, size: Number(size), path }] : [];
    });
  for (const { path, size } of files)
    if (size > limit) throw new BuildFailure("pipeline-invalid", `${path} is larger than ${limit} bytes`);
  if (files.length === 0) return new Map();
  const objectNames = files.map(({ blob }) => `${blob}\n`).join("");
  const output = await git(context, ["cat-file", "--batch"], {}, objectNames);
  if (output.code !== 0) throw gitFailure("git cat-file", output.stderr);
  const objects = objectsIn(output.stdout);
  return new Map(
    files.flatMap(({ path }, index) => {
      const object = objects[index];
      return object ? [[path, object.bytes.toString("utf8")] as const] : [];
    }),
  );
};
