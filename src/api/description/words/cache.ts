import { byteSize, LIMITS, PERIODS } from "../../../protocol/limits.ts";
import type { Words } from "../documentation.ts";

const KEY = `Key of a cache entry: printable ASCII without spaces, at most ${LIMITS.cacheKeyCharacters} characters.`;
const BYTES = "Size of the compressed tar, in bytes.";
const SUM = "SHA-256 of the compressed tar, in lower-case hexadecimal digits.";

/** The schemas of the cache. */
export const CACHE_WORDS: Words = {
  CacheCodec: { is: "Compression of a cache entry's tar." },
  CacheKey: { is: KEY },
  CacheQuery: {
    is: "The cache entries that a job requests.",
    entries: "An empty list requests only the scopes.",
    "entries[].key": KEY,
    "entries[].fallback": "Key prefixes, best first. The newest entry with one of them matches.",
    codecs: "The codecs that the agent supports. Entries with other codecs do not match.",
  },
  FoundCache: {
    is: "The cache entries that the job found.",
    scopes: "The scopes whose entries the job finds, in this order.",
    "scopes[].id": "The scope's id. Agents key their local copies by it.",
    "scopes[].branch": "The scope's branch.",
    saves: "The scope that the job may save to. null: it saves nothing.",
    entries: "In the order of the request. null: no entry matches.",
  },
  CachedEntry: {
    is: "A cache entry that a job found.",
    key: "Key of the entry.",
    bytes: BYTES,
    sha256: SUM,
    codec: "Compression of the entry.",
    scope: "The scope of the entry.",
    grant: `For the entry's content. It is valid for ${PERIODS.grantMinutes} minutes.`,
  },
  CacheOpening: {
    is: "A cache entry that an agent is about to send.",
    key: KEY,
    bytes: `${BYTES} At most ${byteSize(LIMITS.cacheEntryBytes)}.`,
    sha256: SUM,
    codec: "Compression of the entry.",
  },
  OpenedCache: {
    is: "How to send a cache entry.",
    cacheId: "Id of the upload.",
    grant: `Send it with the parts and the end. It is valid for ${PERIODS.grantMinutes} minutes.`,
    expiresAt: "When the grant expires.",
    partBytes: "Size of every part except the last, in bytes.",
    parts: "Number of parts.",
  },
  CacheEnd: {
    is: "The end of a cache entry's upload.",
    etags: "The last `etag` of each part, in order.",
    md5: "With more than one part: the MD5 of the parts' concatenated MD5s (16 bytes each).",
  },
  CacheEntry: {
    is: "A cache entry of a pipeline and branch.",
    key: "Key of the entry.",
    bytes: BYTES,
    sha256: SUM,
    codec: "Compression of the entry.",
    pipelineId: "The pipeline whose builds find the entry.",
    branch: "The branch whose build saved the entry.",
    createdAt: "When the entry was saved.",
    lastUsed: `The day (UTC) on which a build last found the entry. The service deletes an entry after ${PERIODS.cacheDays} days without use.`,
  },
};
