import { createHash } from "node:crypto";
import { matcherOf, PATTERN_WORK } from "../../domain/githost/patterns.ts";
import type { PlanCache } from "../../domain/plan/plan.ts";
import type { Work } from "../../domain/work.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type GitContext, git } from "../checkout/git.ts";

/** What every key has besides its own text: bytes of another system or combination are wrong bytes. */
export interface KeyFacts {
  platform: string;
  arch: string;
  matrix: Record<string, string | boolean> | null;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Printable ASCII: a text that begins another one still does. */
const plain = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A key and its fallbacks, as the service gets them; null where one is too long. */
export const cacheKeyOf = (
  { name, paths, isShared }: Pick<PlanCache, "name" | "paths" | "isShared">,
  { platform, arch, matrix }: KeyFacts,
  texts: { key: string; fallback: string[] },
  idsOfFiles: string | null,
): { key: string; fallback: string[] } | null => {
  const values = Object.entries((!isShared && matrix) || {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const of = sha256(JSON.stringify([values, paths])).slice(0, 32);
  const begin = `v1/${name}/${platform}-${arch}/${of}/`;
  const files = idsOfFiles === null ? "" : `/${sha256(idsOfFiles)}`;
  const key = `${begin}${plain(texts.key)}${files}`;
  const fallback = texts.fallback.map((text) => `${begin}${plain(text)}`);
  return [key, ...fallback].some(({ length }) => length > LIMITS.cacheKeyCharacters) ? null : { key, fallback };
};

/** More than this of a commit's tree is not read. */
const TREE_BYTES = 4 * 1024 * 1024;
const WILDCARD = /[*?[]/;

/**
 * The git ids of a commit's files: no step can change them, and no file is read. @returns null where none is there
 * @throws Error where the tree cannot be read as a whole
 */
export const idsOfFiles = async (
  context: GitContext,
  commitSha: string,
  files: readonly string[],
  work: Work = { left: PATTERN_WORK },
): Promise<string | null> => {
  const fixed = files.map((path) => {
    const parts = path.replace(/^(?:\.\/)+/, "").split("/");
    const first = parts.findIndex((part) => WILDCARD.test(part));
    return parts.slice(0, first < 0 ? parts.length : first).join("/");
  });
  const below = fixed.includes("") ? [] : fixed;
  const listed = await git(context, [
    "--literal-pathspecs",
    "ls-tree",
    "-rz",
    "--full-tree",
    commitSha,
    "--",
    ...below,
  ]);
  if (listed.code !== 0 || listed.stdout.length >= TREE_BYTES)
    throw new Error("the commit has too many files below the folders that `files` names");
  const isMeant = matcherOf(
    files.flatMap((path) => [path, `${path}/**`]).map((path) => path.replace(/^(?:\.\/)+/, "")),
    work,
  );
  const lines = listed.stdout
    .toString()
    .split("\0")
    .filter((line) => isMeant(line.slice(line.indexOf("\t") + 1)) && line !== "");
  if (work.left < 0)
    throw new Error("`files` is too much to compare with the files of the commit: write narrower patterns");
  return lines.length === 0 ? null : lines.join("\0");
};
