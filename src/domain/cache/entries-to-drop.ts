import { LIMITS } from "../../protocol/limits.ts";

/** What of an entry counts for the room in its repository. */
export interface StoredSize {
  /** Its pipeline and branch. */
  scope: string;
  bytes: number;
  isOfDefaultBranch: boolean;
  /** The day on which a build found it last, and when it was made: the least one is the first to go. */
  usedDay: string;
  madeAt: string;
}

/**
 * The entries that give way to a new one; null where it has no room. A branch pushes out its own entries alone, of its
 * own pipeline. The default branch also pushes out those of other branches, so that none of them can fill the room.
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
