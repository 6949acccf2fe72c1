import { timeOfId } from "../../domain/id-range.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { DAY_MS, GIB, MINUTE_MS } from "../../protocol/units.ts";
import type { Result } from "../commands/commands.ts";

/** The archive deletes an upload in several parts that was not finished for so many days. */
const UNFINISHED_DAYS = 7;
/** Days for which a count of the cache holds: it is counted each day, but not where nothing of it is left. */
const COUNTED_DAYS = 3;

/** A part of what an organization has in the archive, until the end of a day (UTC): `2026-11-22`. */
export interface StoredPart {
  /** What jobs left; what was begun to be saved to the cache; the cache as it was counted. */
  kind: "artifact" | "saving" | "cache";
  until: string;
  bytes: number;
}

const dayAt = (at: number): string => new Date(at).toISOString().slice(0, 10);
export const dayAfter = (at: number, days: number): string => dayAt(at + days * DAY_MS);

/** What an entry counts as from its beginning: a single part for as long as its grant, and until the next count. */
export const savingPart = ({
  cacheId,
  bytes,
  parts,
}: {
  cacheId: string;
  bytes: number;
  parts: number;
}): StoredPart => ({
  kind: "saving",
  until: dayAfter(timeOfId(cacheId), parts > 1 ? UNFINISHED_DAYS : 1),
  bytes,
});

export const countedPart = (bytes: number, now: number): StoredPart => ({
  kind: "cache",
  until: dayAfter(now, COUNTED_DAYS),
  bytes,
});

/**
 * Whether nothing can be sent any more under the grant of an artifact: only then its bytes are free once it is deleted.
 * `endedAt`: when its job ended.
 */
export const isSealed = (endedAt: number, now: number): boolean => now - endedAt > PERIODS.grantMinutes * MINUTE_MS;

const inGib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;

/** Why there is no room for so many bytes more; null where there is. */
export const noRoom = ({ used, most }: { used: number; most: number }, bytes: number): Result<never> | null => {
  if (used + bytes <= most) return null;
  const detail =
    `This organization has ${inGib(used)} of artifacts and caches, and may have ${inGib(most)}: delete builds that ` +
    "left artifacts, keep artifacts for fewer days, empty caches, or ask the operator of the service to raise it.";
  return { ok: false, refusal: { kind: "limit-reached", detail } };
};
