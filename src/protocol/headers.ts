/** A D1 bookmark. A read that sends the bookmark sees at least the data behind the answer that contained it. */
export const BOOKMARK_HEADER = "Millrace-Bookmark";

/** The format of D1's bookmarks. Only this format reaches D1, which also interprets other texts. */
export const BOOKMARK = /^[0-9a-f]{1,32}(?:-[0-9a-f]{1,64}){1,7}$/;

/**
 * Headers that the Worker sends to an object when it opens a socket there. `BOOT_HEADER` (`jobs.ts`) passes unchanged.
 */
export const HOP_HEADERS = {
  agentId: "X-Agent-Id",
  /** The SHA-256 of the caller's token, in hexadecimal digits. */
  tokenHash: "X-Token-Hash",
  /** When a long poll ends, in milliseconds since 1970. Absent if a socket stays open. */
  deadline: "X-Deadline",
} as const;
