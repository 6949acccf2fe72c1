import { timeOfId } from "../../domain/id-range.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { DAY_MS, GIB, MINUTE_MS } from "../../protocol/units.ts";
import type { Result } from "../commands/commands.ts";

/** Days after which the archive deletes an unfinished multipart upload. */
const UNFINISHED_DAYS = 7;
/** Days for which a cache count is valid. Upkeep counts a cache each day, unless nothing of it is left. */
const COUNTED_DAYS = 3;

/**
 * A part of an organization's bytes in the archive, which counts until the end of a day (UTC), such as `2026-11-22`.
 */
export interface StoredPart {
  /** Artifacts of jobs, uploads to the cache that have begun, or the counted cache. */
  kind: "artifact" | "saving" | "cache";
  until: string;
  bytes: number;
}

const dayAt = (at: number): string => new Date(at).toISOString().slice(0, 10);
export const dayAfter = (at: number, days: number): string => dayAt(at + days * DAY_MS);

/**
 * Returns a cache entry's part from its beginning. An entry with a single part counts for as long as its grant, and
 * until the next count.
 */
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
 * Reports whether the artifact's grant accepts no more bytes. Only then does a deletion free its bytes. `endedAt` is
 * when its job ended.
 */
export const isSealed = (endedAt: number, now: number): boolean => now - endedAt > PERIODS.grantMinutes * MINUTE_MS;

const inGib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;

/** Returns a refusal if there is no room for this many more bytes; otherwise returns null. */
export const noRoom = ({ used, most }: { used: number; most: number }, bytes: number): Result<never> | null => {
  if (used + bytes <= most) return null;
  const detail =
    `This organization stores ${inGib(used)} of artifacts and caches, and its limit is ${inGib(most)}: delete builds ` +
    "with artifacts, keep artifacts for fewer days, empty caches, or ask the operator to raise the limit.";
  return { ok: false, refusal: { kind: "limit-reached", detail } };
};
