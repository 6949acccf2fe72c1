import { ORGANIZATION_LIMITS } from "../../protocol/organization-limits.ts";
import type { OrganizationStore } from "../../protocol/service-metrics.ts";
import type { PoolNumbers } from "../state/numbers.ts";

/** Organizations that are named: each is in every row of numbers, and a label. */
const NAMED = 20;
/** An organization whose pool told nothing for so long is named no more: it may be gone. */
const KNOWN_MS = 7 * 86_400_000;

/** `at`: when its pool told it, in milliseconds since 1970. */
export type KnownStore = OrganizationStore & { at: number };

export const storedShare = ({ storedBytes, mostStoredBytes }: OrganizationStore): number =>
  mostStoredBytes > 0 ? storedBytes / mostStoredBytes : Number(storedBytes > 0);

/** The organizations that are nearest to the bytes that they may store: those of before, with what the swept pools say. */
export const addStored = (
  before: KnownStore[],
  pools: { orgId: string; numbers: Pick<PoolNumbers, "storedBytes" | "mostStoredBytes"> }[],
  now: number,
): KnownStore[] => {
  const known = new Map(before.map((one) => [one.orgId, one]));
  for (const { orgId, numbers } of pools) {
    const { storedBytes, mostStoredBytes = known.get(orgId)?.mostStoredBytes ?? ORGANIZATION_LIMITS.storedBytes } =
      numbers;
    known.set(orgId, { orgId, storedBytes, mostStoredBytes, at: now });
  }
  return [...known.values()]
    .filter(({ storedBytes, at }) => storedBytes > 0 && at > now - KNOWN_MS)
    .sort((one, other) => storedShare(other) - storedShare(one) || other.storedBytes - one.storedBytes)
    .slice(0, NAMED);
};
