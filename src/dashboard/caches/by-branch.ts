import type { CacheEntry } from "../../protocol/cache.ts";

interface OfBranch {
  branch: string;
  bytes: number;
  entries: number;
  lastUsed: string;
}

/** The sums of each branch, the largest first. */
export const byBranch = (entries: readonly CacheEntry[]): OfBranch[] => {
  const found = new Map<string, OfBranch>();
  for (const { branch, bytes, lastUsed } of entries) {
    const known = found.get(branch) ?? { branch, bytes: 0, entries: 0, lastUsed };
    found.set(branch, {
      branch,
      bytes: known.bytes + bytes,
      entries: known.entries + 1,
      lastUsed: known.lastUsed > lastUsed ? known.lastUsed : lastUsed,
    });
  }
  return [...found.values()].sort((a, b) => b.bytes - a.bytes);
};
