import { type IncludedText, KnownFiles, type ToInclude } from "../../pipeline/parse/included-files.ts";
import { type ParsedPlan, parsePlan } from "../../pipeline/parse/parse.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Fetched } from "./checkout.ts";
import { objectsIn, utf8Text } from "./commit-file.ts";
import { git } from "./git.ts";
import { gitFailure } from "./git-failure.ts";

/** Bytes that are read at once. So many of UTF-8 are more characters than a file and all that it includes may have. */
const READ_LIMIT = 4 * LIMITS.definitionCharacters;

interface Entry {
  mode: string;
  hash: string;
  size: number;
}

/** The entries that `git ls-tree -lz` lists, by their paths. */
const entriesIn = (listed: string): Map<string, Entry> =>
  new Map(
    listed.split("\0").flatMap((line) => {
      const [, mode = "", hash = "", size = "", path = ""] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
      return path === "" ? [] : [[path, { mode, hash, size: Number(size) || 0 }] as const];
    }),
  );

/** Why an entry of a tree cannot be included; null for a regular file of an allowed size. */
const entryProblem = (entry: Entry | undefined, path: string, commitSha: string): string | null => {
  if (!entry) return `Commit ${commitSha} has no file ${path}`;
  const { mode, size } = entry;
  if (mode === "120000") return `${path} is a symbolic link: only a regular file can be included`;
  if (mode === "160000") return `${path} is a submodule: only a regular file can be included`;
  if (mode === "040000") return `${path} is a folder: only a regular file can be included`;
  return size > LIMITS.definitionCharacters ? `${path} is larger than ${LIMITS.definitionCharacters} bytes` : null;
};

/** The bytes as text, or why they are not text. */
export const toInclude = (bytes: Uint8Array, path: string): ToInclude => {
  const text = utf8Text(bytes);
  return text === null ? { problem: `${path} is not UTF-8` } : { text };
};

/**
 * Files of a commit that another one includes, from the repository's objects: never from the file system, so that no
 * link is followed. @throws BuildFailure checkout-failed
 */
export const readIncluded = async (
  { gitContext, commitSha }: Pick<Fetched, "gitContext" | "commitSha">,
  paths: readonly string[],
): Promise<Map<string, ToInclude>> => {
  const tree = ["--literal-pathspecs", "ls-tree", "--full-tree", "-lz", `${commitSha}^{commit}`, "--", ...paths];
  const listed = await git(gitContext, tree);
  if (listed.code !== 0) throw gitFailure("git ls-tree", listed.stderr);
  const entries = entriesIn(listed.stdout.toString("utf8"));
  const files = new Map<string, ToInclude>();
  const blobs: { path: string; hash: string }[] = [];
  let bytes = 0;
  for (const path of paths) {
    const entry = entries.get(path);
    const problem = entryProblem(entry, path, commitSha);
    bytes += problem === null ? (entry?.size ?? 0) : 0;
    if (problem !== null || !entry) files.set(path, { problem: problem ?? "" });
    else if (bytes > READ_LIMIT) files.set(path, { problem: "The files up to here are too large to be included" });
    else blobs.push({ path, hash: entry.hash });
  }
  if (blobs.length === 0) return files;
  const output = await git(gitContext, ["cat-file", "--batch"], {}, blobs.map(({ hash }) => `${hash}\n`).join(""));
  if (output.code !== 0) throw gitFailure("git cat-file", output.stderr);
  const objects = objectsIn(output.stdout);
  for (const [index, { path }] of blobs.entries())
    files.set(path, objects[index] ? toInclude(objects[index].bytes, path) : { problem: `${path} cannot be read` });
  return files;
};

/** A file that was parsed, with those of the same commit that it includes. */
export interface ParsedWithIncludes {
  parsed: ParsedPlan;
  includes: IncludedText[];
}

/**
 * Parses a file of a commit, and reads what it includes: each round knows one level more of them.
 * @throws BuildFailure checkout-failed
 */
export const parseInCommit = async (
  text: string,
  commit: Pick<Fetched, "gitContext" | "commitSha">,
): Promise<ParsedWithIncludes> => {
  const readFiles = new Map<string, ToInclude>();
  for (;;) {
    const missing = new Set<string>();
    const files = new KnownFiles(readFiles, (path) => {
      missing.add(path);
      return { problem: "This file was not read" };
    });
    const parsed = parsePlan(text, files.find);
    if (missing.size === 0) return { parsed, includes: files.used };
    for (const [path, file] of await readIncluded(commit, [...missing])) readFiles.set(path, file);
  }
};
