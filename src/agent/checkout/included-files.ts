import { type IncludedText, KnownFiles, type ToInclude } from "../../pipeline/parse/included-files.ts";
import { type ParsedPlan, parsePlan } from "../../pipeline/parse/parse.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type CommitEntry, type CommitObjects, findCommit, findEntry, utf8Text } from "./commit-file.ts";

/** Maximum bytes to read in total. This much UTF-8 exceeds the characters allowed for a file with all its includes. */
const READ_LIMIT = 4 * LIMITS.definitionCharacters;

/** Explains why a tree entry cannot be included; null for a regular file of an allowed size. */
const entryProblem = (entry: CommitEntry | null, path: string, commitSha: string): string | null => {
  if (!entry) return `Commit ${commitSha} has no file ${path}`;
  const { mode, size } = entry;
  if (mode === "120000") return `${path} is a symbolic link: only a regular file can be included`;
  if (mode === "160000") return `${path} is a submodule: only a regular file can be included`;
  if (mode === "040000") return `${path} is a folder: only a regular file can be included`;
  if (size > LIMITS.definitionCharacters) return `${path} is larger than ${LIMITS.definitionCharacters} bytes`;
  return entry.bytes ? null : `${path} is not a file`;
};

/** Returns the bytes as text, or the reason why they are not text. */
export const toInclude = (bytes: Uint8Array, path: string): ToInclude => {
  const text = utf8Text(bytes);
  return text === null ? { problem: `${path} is not UTF-8` } : { text };
};

/** Reads a commit's included files. @throws BuildFailure checkout-failed */
export const readIncluded = async (
  { objects, commitSha }: CommitObjects,
  paths: readonly string[],
): Promise<Map<string, ToInclude>> => {
  const commit = await findCommit(objects, commitSha);
  const files = new Map<string, ToInclude>();
  let bytesRead = 0;
  for (const path of paths) {
    const entry = await findEntry(objects, commit, path, LIMITS.definitionCharacters);
    const problem = entryProblem(entry, path, commitSha);
    bytesRead += entry?.bytes?.length ?? 0;
    if (!entry?.bytes) files.set(path, { problem: problem ?? "" });
    else if (bytesRead > READ_LIMIT)
      files.set(path, { problem: "The files included up to here are too large in total" });
    else files.set(path, toInclude(entry.bytes, path));
  }
  return files;
};

/** A parsed file and its included files from the same commit. */
export interface ParsedWithIncludes {
  parsed: ParsedPlan;
  includes: IncludedText[];
}

/**
 * Parses a commit's file and reads its includes. Each round reads one more level. @throws BuildFailure checkout-failed
 */
export const parseInCommit = async (text: string, commit: CommitObjects): Promise<ParsedWithIncludes> => {
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
