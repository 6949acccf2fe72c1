import { homedir } from "node:os";
import { PATTERN_WORK } from "../../domain/githost/patterns.ts";
import type { JobContext } from "../../domain/plan/job-context.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { cacheTextsOf } from "../../domain/plan/prepare-cache.ts";
import type { BuildFolder } from "../build-folder.ts";
import type { Fetched } from "../checkout/checkout.ts";
import type { BuildLog } from "../log/build-log.ts";
import type { StepUser } from "../process/step-user.ts";
import type { CacheRoots } from "./cache-archive.ts";
import { cacheKeyOf, idsOfFiles } from "./cache-key.ts";
import type { KeyedCache } from "./job-cache.ts";

/** For each cache the ids of its files: null where it names none, or why they are not known. */
export type CacheIds = Map<string, { ids: string | null } | { problem: string }>;

/** Steps of comparing `files` of all caches of a job with the files of its commit. */
const MOST_WORK = 4 * PATTERN_WORK;

/** Asks git before the checkout: after it, a step could change what git answers. */
export const cacheIdsOf = async ({ job: { caches = [] } }: Plan, fetched: Fetched): Promise<CacheIds> => {
  const found: CacheIds = new Map();
  const work = { left: MOST_WORK };
  for (const { name, files } of caches) {
    if (files.length === 0) found.set(name, { ids: null });
    else
      try {
        const ids = await idsOfFiles(fetched.gitContext, fetched.commitSha, files, work);
        found.set(name, ids === null ? { problem: `the commit has no file ${files.join(", ")}` } : { ids });
      } catch (error) {
        found.set(name, { problem: (error as Error).message });
      }
  }
  return found;
};

/** The caches of a plan with their keys. One whose key cannot be made is left out, with a warning in the log. */
export const keyedCaches = (plan: Plan, facts: JobContext, ids: CacheIds, log: BuildLog): KeyedCache[] =>
  (plan.job.caches ?? []).flatMap((cache): KeyedCache[] => {
    const own = ids.get(cache.name) ?? { ids: null };
    const texts = "problem" in own ? own : cacheTextsOf(plan, facts, cache);
    const machine = { platform: process.platform, arch: process.arch, matrix: facts.matrix ?? null };
    const key =
      "problem" in own || texts.problem !== undefined || !("key" in texts)
        ? null
        : cacheKeyOf(cache, machine, texts, own.ids);
    const problem = texts.problem ?? (key === null ? "its key is too long" : null);
    if (key !== null && problem === null) return [{ cache, ...key }];
    log.say(`Warning: cache: ${cache.name} is not used: ${problem}`);
    return [];
  });

/** The folders that paths of caches are relative to: the checkout, and the HOME that steps see. */
export const cacheRoots = (
  { workspace, home }: Pick<BuildFolder, "workspace" | "home">,
  user: StepUser | null,
  signal: AbortSignal,
): CacheRoots => ({
  checkout: { root: workspace, user, signal },
  home: { root: user ? home : (process.env.HOME ?? homedir()), user, signal },
});
