import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { nameMatcher, PATTERN_WORK } from "../../domain/patterns.ts";
import type { Work } from "../../domain/work.ts";
import type { Plan, PlanCache } from "../../pipeline/parse/plan.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { evaluateCacheTexts } from "../../pipeline/prepare/prepare-cache.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { MIB } from "../../protocol/units.ts";
import type { BuildFolder } from "../build/build-folder.ts";
import type { Fetched } from "../checkout/checkout.ts";
import { type GitContext, git } from "../checkout/git.ts";
import type { JobLog } from "../log/job-log.ts";
import type { StepUser } from "../process/step-user.ts";
import type { CacheRoots } from "./cache-archive.ts";
import type { KeyedCache } from "./job-cache.ts";

/** Facts that are part of every key, because bytes from another system or combination are wrong. */
interface KeyFacts {
  platform: string;
  arch: string;
  matrix: Record<string, string | boolean> | null;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Encodes a text as printable ASCII and keeps prefixes intact. */
const plain = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Builds a key and its fallbacks for the service; null when one is too long. */
export const buildCacheKey = (
  { name, paths, isShared }: Pick<PlanCache, "name" | "paths" | "isShared">,
  { platform, arch, matrix }: KeyFacts,
  texts: { key: string; fallback: string[] },
  idsOfFiles: string | null,
): { key: string; fallback: string[] } | null => {
  const values = Object.entries((!isShared && matrix) || {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = sha256(JSON.stringify([values, paths])).slice(0, 32);
  const begin = `v1/${name}/${platform}-${arch}/${digest}/`;
  const files = idsOfFiles === null ? "" : `/${sha256(idsOfFiles)}`;
  const key = `${begin}${plain(texts.key)}${files}`;
  const fallback = texts.fallback.map((text) => `${begin}${plain(text)}`);
  return [key, ...fallback].some(({ length }) => length > LIMITS.cacheKeyCharacters) ? null : { key, fallback };
};

/** The largest part of a commit's tree that the agent reads. */
const TREE_BYTES = 4 * MIB;
const WILDCARD = /[*?[]/;

/**
 * Returns the git ids of a commit's files; null when no file matches. Steps cannot change the ids, and the agent reads
 * no file.
 * @throws Error when the complete tree cannot be read
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
    throw new Error("the commit has too many files in the folders of `files`");
  const isMeant = nameMatcher(
    files.flatMap((path) => [path, `${path}/**`]).map((path) => path.replace(/^(?:\.\/)+/, "")),
    work,
  );
  const lines = listed.stdout
    .toString()
    .split("\0")
    .filter((line) => isMeant(line.slice(line.indexOf("\t") + 1)) && line !== "");
  if (work.left < 0)
    throw new Error("`files` requires too many comparisons with the commit's files: write narrower patterns");
  return lines.length === 0 ? null : lines.join("\0");
};

/** The ids of each cache's files: null when the cache names no files, or the reason why the ids are unknown. */
export type CacheIds = Map<string, { ids: string | null } | { problem: string }>;

/** Maximum steps for comparing the `files` of all the job's caches with its commit's files. */
const MOST_WORK = 4 * PATTERN_WORK;

/** Reads the ids before the checkout, because a step could later change git's answers. */
export const readCacheIds = async ({ job: { caches = [] } }: Plan, fetched: Fetched): Promise<CacheIds> => {
  const cacheIds: CacheIds = new Map();
  const work = { left: MOST_WORK };
  for (const { name, files } of caches) {
    if (files.length === 0) cacheIds.set(name, { ids: null });
    else
      try {
        const ids = await idsOfFiles(fetched.gitContext, fetched.commitSha, files, work);
        cacheIds.set(name, ids === null ? { problem: `no file in the commit matches ${files.join(", ")}` } : { ids });
      } catch (error) {
        cacheIds.set(name, { problem: (error as Error).message });
      }
  }
  return cacheIds;
};

/** Returns a plan's caches with their keys. Omits a cache without a valid key and adds a warning to the log. */
export const keyedCaches = (plan: Plan, facts: JobContext, ids: CacheIds, log: JobLog): KeyedCache[] =>
  (plan.job.caches ?? []).flatMap((cache): KeyedCache[] => {
    const own = ids.get(cache.name) ?? { ids: null };
    const texts = "problem" in own ? own : evaluateCacheTexts(plan, facts, cache);
    const machine = { platform: process.platform, arch: process.arch, matrix: facts.matrix ?? null };
    const key =
      "problem" in own || texts.problem !== undefined || !("key" in texts)
        ? null
        : buildCacheKey(cache, machine, texts, own.ids);
    const problem = texts.problem ?? (key === null ? "its key is too long" : null);
    if (key !== null && problem === null) return [{ cache, ...key }];
    log.say(`Warning: cache: ${cache.name} is not used: ${problem}`);
    return [];
  });

/** Returns the folders to which caches' paths are relative: the checkout, and the steps' HOME. */
export const cacheRoots = (
  { workspace, home }: Pick<BuildFolder, "workspace" | "home">,
  user: StepUser | null,
  signal: AbortSignal,
): CacheRoots => ({
  checkout: { root: workspace, user, signal },
  home: { root: user ? home : (process.env.HOME ?? homedir()), user, signal },
});
