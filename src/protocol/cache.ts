import * as z from "zod/mini";
import { hex, openedUpload, sentParts } from "./artifact.ts";
import { atMost, atMostItems, intBetween, notEmpty } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";

/*
 * THE CACHE. Every call of an agent names a job and its lease. From the build, the service derives the scopes that the
 * job can read, and the scope that it saves to:
 *   POST /job/{id}/cache/find           CacheQuery -> FoundCache: an entry for each key, or the newest of a fallback.
 *   POST /job/{id}/cache                CacheOpening -> OpenedCache, which lists the parts to send.
 *   PUT  /job/{id}/cache/{c}/part/{n}   with `X-Grant`, `Content-Length` and `X-Content-SHA256` -> SentPart.
 *   POST /job/{id}/cache/{c}/done       with `X-Grant`: CacheEnd. Idempotent.
 *   GET  /cache/{grant}/content         the bytes of an entry, with `Range`.
 */

/** The compression of an entry's tar. */
export const CacheCodec = z.enum(["gzip", "zstd"]);
export type CacheCodec = z.infer<typeof CacheCodec>;

/** A key of printable ASCII. An agent builds it from a name, its platform, and the key in the file. */
export const CacheKey = z
  .string()
  .check(
    notEmpty(),
    atMost(LIMITS.cacheKeyCharacters),
    z.regex(/^[\x21-\x7E]+$/, "must be printable ASCII without spaces"),
  );

/** The keys that a job wants, and the codecs that its agent reads. A request without keys gets only the scopes. */
export const CacheQuery = z.object({
  entries: z
    .array(
      z.object({
        key: CacheKey,
        /** Beginnings of keys, best first. */
        fallback: z.array(CacheKey).check(atMostItems(LIMITS.cacheFallbacks, "fallbacks")),
      }),
    )
    .check(atMostItems(LIMITS.caches, "entries")),
  codecs: z.array(z.string().check(atMost(LIMITS.etagCharacters))).check(atMostItems(LIMITS.caches, "codecs")),
});
export type CacheQuery = z.infer<typeof CacheQuery>;

const entryFields = {
  key: z.string(),
  /** The size of the compressed tar. */
  bytes: z.int(),
  sha256: z.string(),
  codec: CacheCodec,
};

/** An entry for a job. `grant` gives access to the entry's content. */
export const CachedEntry = z.object({ ...entryFields, scope: z.string(), grant: z.string() });
export type CachedEntry = z.infer<typeof CachedEntry>;

/** The entries that the service found. Scopes are in the order in which the job reads them. A missing entry is null. */
export const FoundCache = z.object({
  scopes: z.array(z.object({ id: z.string(), branch: z.string() })),
  /** The scope that the job may save to; null if it may not save. */
  saves: z.nullable(z.string()),
  entries: z.array(z.nullable(CachedEntry)),
});
export type FoundCache = z.infer<typeof FoundCache>;

/** The entry that an agent is about to send. The agent cannot change the fields later. */
export const CacheOpening = z.object({
  key: CacheKey,
  bytes: intBetween(1, LIMITS.cacheEntryBytes),
  sha256: hex(64),
  codec: CacheCodec,
});
export type CacheOpening = z.infer<typeof CacheOpening>;

export const OpenedCache = z.object({ cacheId: Id, ...openedUpload });
export type OpenedCache = z.infer<typeof OpenedCache>;

export const CacheEnd = z.object(sentParts);
export type CacheEnd = z.infer<typeof CacheEnd>;

/** A cache entry, as people see it. */
export const CacheEntry = z.object({
  ...entryFields,
  pipelineId: Id,
  branch: z.string(),
  createdAt: Timestamp,
  /** The last day (UTC) on which a build used it. */
  lastUsed: z.iso.date(),
});
export type CacheEntry = z.infer<typeof CacheEntry>;
