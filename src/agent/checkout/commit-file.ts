import { MIB } from "../../protocol/units.ts";
import { BuildFailure } from "../build/failure.ts";
import { gitFailure } from "./git-failure.ts";
import type { ObjectReader } from "./object-reader.ts";

/** Returns the decoder for git's name of an encoding; UTF-8 for an unknown name. */
const decoderFor = (label: string): TextDecoder => {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
};

/**
 * Returns the message in a commit's object, in its header's encoding (git-commit(1), i18n.commitEncoding). The message
 * is empty if no empty line ends the headers, because some programs write a commit without a message that way.
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

/** Decodes bytes and keeps the byte order mark; null for invalid UTF-8. */
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
  /**
   * The file at the path; null when the commit has no such path. `text` is null unless the file is UTF-8 and has at
   * most READ_LIMIT bytes.
   */
  file: { mode: string; size: number; text: string | null } | null;
}

/** Bytes of the largest file that the agent reads. Pipeline files must be much smaller. */
const READ_LIMIT = 2 * MIB;

/** Characters kept of a commit message, which may become a step's variable. */
const MESSAGE_LIMIT = 65_536;
/** Bytes that the agent reads of a commit: its headers, and more than the kept message. */
const COMMIT_BYTES = MIB;
/** Bytes of the largest folder to search: half a million names. */
const TREE_BYTES = 32 * MIB;

interface TreeEntry {
  mode: string;
  hash: string;
}

/** Finds a name's entry in a tree object. Each entry is a mode, a space, a name, NUL, and a hash in bytes. */
const entryIn = (tree: Buffer, name: string, hashBytes: number): TreeEntry | null => {
  const wanted = Buffer.from(name);
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space < 0 || end < 0) return null;
    if (tree.subarray(space + 1, end).equals(wanted)) {
      const mode = tree.toString("latin1", at, space).padStart(6, "0");
      return { mode, hash: tree.toString("hex", end + 1, end + 1 + hashBytes) };
    }
    at = end + 1 + hashBytes;
  }
  return null;
};

/** A path's content in a commit: a tree entry and, for a file, its size and first bytes. */
export interface CommitEntry {
  mode: string;
  size: number;
  /** The file's bytes; null for anything except a regular file within the byte limit. */
  bytes: Buffer | null;
}

interface Commit {
  hash: string;
  treeHash: string;
  bytes: Buffer;
}

/** A commit and its reader. */
export interface CommitObjects {
  objects: ObjectReader;
  commitSha: string;
}

/** Finds a commit. @throws BuildFailure when there is no such commit */
export const findCommit = async (objects: ObjectReader, revision: string): Promise<Commit> => {
  const commit = await objects.read(`${revision}^{commit}`, COMMIT_BYTES);
  const [, treeHash] = /^tree ([0-9a-f]+)\n/.exec(commit?.bytes.toString("latin1", 0, 100) ?? "") ?? [];
  if (commit && treeHash !== undefined) return { ...commit, treeHash };
  throw new BuildFailure("checkout-failed", `the repository has no commit ${revision}`);
};

/**
 * Finds a commit's content at a path; null without such a path. Reads the repository's objects and never the file
 * system, so that it follows no link. Requests only hashes from git, so that no path has a special meaning.
 * @throws BuildFailure
 */
export const findEntry = async (
  objects: ObjectReader,
  { treeHash }: Pick<Commit, "treeHash">,
  path: string,
  limit: number,
): Promise<CommitEntry | null> => {
  let entry: TreeEntry | null = { mode: FOLDER, hash: treeHash };
  for (const name of path.split("/")) {
    if (entry?.mode !== FOLDER) return null;
    const tree = await objects.read(entry.hash, TREE_BYTES);
    if (!tree) throw missing(entry.hash);
    if (tree.size > TREE_BYTES) throw new BuildFailure("checkout-failed", `a folder above ${path} has too many files`);
    entry = entryIn(tree.bytes, name, entry.hash.length / 2);
  }
  if (!entry?.mode.startsWith("100")) return entry && { mode: entry.mode, size: 0, bytes: null };
  const file = await objects.read(entry.hash, limit);
  if (!file) throw missing(entry.hash);
  return { mode: entry.mode, size: file.size, bytes: file.size <= limit ? file.bytes : null };
};

const FOLDER = "040000";
const missing = (hash: string): BuildFailure => gitFailure("git cat-file", `missing object ${hash}`);

/** Reads a commit and the file at `path`. @throws BuildFailure when the commit does not exist */
export const readCommit = async (objects: ObjectReader, revision: string, path: string): Promise<CommitWithFile> => {
  const commit = await findCommit(objects, revision);
  const entry = await findEntry(objects, commit, path, READ_LIMIT);
  return {
    commitSha: commit.hash,
    message: messageIn(commit.bytes).slice(0, MESSAGE_LIMIT).toWellFormed(),
    file: entry && { mode: entry.mode, size: entry.size, text: entry.bytes && utf8Text(entry.bytes) },
  };
};

/**
 * Returns the pipeline file's text.
 * @throws BuildFailure pipeline-invalid unless the path is a regular file of at most `limit` bytes
 */
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
 * Returns the texts at those paths that are regular files in the commit.
 * @throws BuildFailure for a file above `limit` bytes
 */
export const textsInCommit = async (
  { objects, commitSha }: CommitObjects,
  paths: readonly string[],
  limit: number,
): Promise<Map<string, string>> => {
  const commit = await findCommit(objects, commitSha);
  const texts = new Map<string, string>();
  for (const path of paths) {
    const entry = await findEntry(objects, commit, path, limit);
    if (entry && entry.size > limit)
      throw new BuildFailure("pipeline-invalid", `${path} is larger than ${limit} bytes`);
    if (entry?.bytes) texts.set(path, entry.bytes.toString("utf8"));
  }
  return texts;
};
