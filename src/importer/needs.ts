import { usesStatus } from "./expression-tree.ts";
import type { Source } from "./source.ts";
import { find, isLiteral, itemsOf, pairsOf, type Token, textOf } from "./tokens.ts";

/* Which jobs a job has to name in `needs`, so that `success()` and `failure()` look at the same jobs as there. */

interface NeedsOfJobs {
  needs: Map<string, string[]>;
  /** The jobs to which ancestors were added. */
  extended: Set<string>;
}

const conditionOf = (job: Token, source: Source): string | undefined => {
  const token = find(job, "if");
  return token && (isLiteral(token) ? token.toString() : textOf(token, source));
};

/**
 * There `success()` and `failure()` look at all ancestors, here at the jobs that are needed directly. Where an ancestor
 * may run although one before it failed or was skipped, that makes a difference: then the ancestors are named.
 */
export const needsOfJobs = (jobs: Token, source: Source): NeedsOfJobs => {
  const direct = new Map<string, string[]>();
  const runsAnyway = new Map<string, boolean>();
  const looksBack = new Map<string, boolean>();
  const pairs = pairsOf(jobs);
  const keys = new Map(pairs.map(({ key }) => [key.toLowerCase(), key]));
  for (const { key, value } of pairs) {
    const named = itemsOf(find(value, "needs")).map((one) => textOf(one, source));
    direct.set(key, [...new Set(named.map((one) => keys.get(one.toLowerCase()) ?? one))]);
    const condition = conditionOf(value, source) ?? "";
    const hasStatus = usesStatus(condition);
    runsAnyway.set(key, hasStatus);
    looksBack.set(key, !hasStatus || /\b(?:success|failure)\s*\(/i.test(condition));
  }
  const ancestorsOf = (key: string, found = new Set<string>()): Set<string> => {
    for (const one of direct.get(key) ?? []) {
      if (found.has(one)) continue;
      found.add(one);
      ancestorsOf(one, found);
    }
    return found;
  };
  const needs = new Map<string, string[]>();
  const extended = new Set<string>();
  for (const [key, own] of direct) {
    const all = [...ancestorsOf(key)];
    const isOpen = looksBack.get(key) && all.some((one) => runsAnyway.get(one) && (direct.get(one)?.length ?? 0) > 0);
    if (isOpen && all.length > own.length) extended.add(key);
    needs.set(key, isOpen ? [...own, ...all.filter((one) => !own.includes(one))] : own);
  }
  return { needs, extended };
};
