import { byteSize, LIMITS, PERIODS } from "../../../protocol/limits.ts";
import type { Words } from "../documentation.ts";

const KEY = `Key of an entry: printable ASCII without spaces, at most ${LIMITS.cacheKeyCharacters} characters.`;
const BYTES = "Bytes of the compressed tar.";
const SUM = "SHA-256 of these bytes, in lower-case hexadecimal digits.";

/** The schemas of the cache. */
export const CACHE_WORDS: Words = {
  CacheCodec: { is: "How the tar of an entry is compressed." },
  CacheKey: { is: KEY },
  CacheQuery: {
    is: "The entries that a job wants.",
    entries: "None: only the scopes are asked for.",
    "entries[].key": KEY,
    "entries[].fallback": "Beginnings of keys, best first. The newest entry with one of them is found.",
    codecs: "The codecs that the agent reads. Entries of others are not found.",
  },
  FoundCache: {
    is: "What the job finds.",
    scopes: "Whose entries it finds, in this order.",
    "scopes[].id": "Names the scope. An agent keeps copies of entries by it.",
    "scopes[].branch": "Its branch.",
    saves: "The scope that the job may save to. null: it saves nothing.",
    entries: "In the order of the request. null: there is none.",
  },
  CachedEntry: {
    is: "An entry that a job finds.",
    key: "Key of the entry.",
    bytes: BYTES,
    sha256: SUM,
    codec: "How it is compressed.",
    scope: "The scope that it was found in.",
    grant: `For its content, for ${PERIODS.grantMinutes} minutes.`,
  },
  CacheOpening: {
    is: "An entry that an agent is about to send.",
    key: KEY,
    bytes: `${BYTES} At most ${byteSize(LIMITS.cacheEntryBytes)}.`,
    sha256: SUM,
    codec: "How it is compressed.",
  },
  OpenedCache: {
    is: "How to send an entry.",
    cacheId: "Id of what is sent.",
    grant: `What the parts and the end are sent with, for ${PERIODS.grantMinutes} minutes.`,
    expiresAt: "When the grant ends.",
    partBytes: "Bytes of every part but the last.",
    parts: "Number of parts.",
  },
  CacheEnd: {
    is: "What was sent.",
    etags: "The last answer for each part, in order.",
    md5: "Of several parts: the MD5 of their MD5s (16 bytes each), one after the other.",
  },
  CacheEntry: {
    is: "What builds of a pipeline and branch find again.",
    key: "Key of the entry.",
    bytes: BYTES,
    sha256: SUM,
    codec: "How it is compressed.",
    pipelineId: "The pipeline whose builds find it.",
    branch: "The branch that it was saved by.",
    createdAt: "When it was saved.",
    lastUsed: `The day (UTC) on which a build found it last. After ${PERIODS.cacheDays} days without use it is deleted.`,
  },
};
