/** A D1 bookmark: a read that sends it back sees at least what the answer that carried it saw. */
export const BOOKMARK_HEADER = "Millrace-Bookmark";

/** The form of D1's bookmarks: nothing else reaches D1, where other texts mean something too. */
export const BOOKMARK = /^[0-9a-f]{1,32}(?:-[0-9a-f]{1,64}){1,7}$/;

/** What the Worker passes on to an object when it opens a socket there; `BOOT_HEADER` (`jobs.ts`) goes unchanged. */
export const HOP_HEADERS = {
  agentId: "X-Agent-Id",
  /** SHA-256 of the caller's token, in hexadecimal digits. */
  tokenHash: "X-Token-Hash",
  /** Milliseconds since 1970 until which a long poll waits; absent where a socket stays open. */
  deadline: "X-Deadline",
} as const;
