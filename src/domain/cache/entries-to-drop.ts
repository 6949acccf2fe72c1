import { LIMITS } from "../../protocol/limits.ts";

/** An entry's facts that count towards its repository's quota. */
export interface StoredSize {
  /** The entry's pipeline and branch. */
  scope: string;
  bytes: number;
  isOfDefaultBranch: boolean;
  /**
   * The last day on which a build used the entry, and the entry's creation. The repository drops the entry with the
   * lowest values first.
   */
  usedDay: string;
  madeAt: string;
}

/**
 * Returns the entries to drop for a new one; null if there is no room for the new entry. A branch drops only its own
 * entries, and only those of the same pipeline. The default branch also drops entries of other branches, so that they
 * cannot fill the quota.
 */
export const entriesToDrop = <E extends StoredSize>(
  storedEntries: readonly E[],
  newEntry: Pick<StoredSize, "scope" | "bytes" | "isOfDefaultBranch">,
  most: { bytes: number; entries: number } = { bytes: LIMITS.cacheBytes, entries: LIMITS.cacheEntries },
): E[] | null => {
  let bytes = storedEntries.reduce((sum, one) => sum + one.bytes, newEntry.bytes);
  let entries = storedEntries.length + 1;
  const isFull = (): boolean => bytes > most.bytes || entries > most.entries;
  const isOwn = ({ scope }: StoredSize): boolean => scope === newEntry.scope;
  const rank = (one: StoredSize): string => `${isOwn(one) ? 1 : 0} ${one.usedDay} ${one.madeAt}`;
  const movable = storedEntries
    .filter((one) => isOwn(one) || (newEntry.isOfDefaultBranch && !one.isOfDefaultBranch))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const removals: E[] = [];
  while (isFull()) {
    const next = movable.shift();
    if (!next) return null;
    removals.push(next);
    bytes -= next.bytes;
    entries--;
  }
  return removals;
};
