import * as z from "zod/mini";

/** Every type of problem in the service's answers, with its status and title. The list is closed. */
export const PROBLEMS = {
  "malformed-body": [400, "Malformed body"],
  unauthenticated: [401, "Unauthenticated"],
  forbidden: [403, "Forbidden"],
  "not-found": [404, "Not found"],
  gone: [410, "Gone"],
  "method-not-allowed": [405, "Method not allowed"],
  conflict: [409, "Conflict with the current state"],
  duplicate: [409, "Already exists"],
  "in-use": [409, "Still in use"],
  "lease-lost": [409, "Lease lost"],
  "log-gap": [409, "Gap in the log"],
  "stale-version": [412, "Changed since it was read"],
  "too-large": [413, "Too large"],
  "unsupported-media-type": [415, "Unsupported media type"],
  invalid: [422, "Invalid request"],
  "idempotency-mismatch": [422, "Idempotency key used for another request"],
  "rate-limited": [429, "Too many requests"],
  "limit-reached": [429, "Limit reached"],
  internal: [500, "Internal error"],
  unavailable: [503, "Temporarily unavailable"],
  "keyring-unavailable": [503, "Keys missing or wrong"],
} as const satisfies Record<string, readonly [status: number, title: string]>;
export type ProblemKind = keyof typeof PROBLEMS;

/** Details that several layers share. No detail repeats any input. */
export const DETAILS = {
  unauthenticated: "The token is invalid or has expired.",
  "not-found": "Nothing with this id exists here.",
  "log-deleted": "The log of this build was deleted.",
  "lease-lost": "This lease is no longer current: drop the build and poll again.",
  invalid: "The request is invalid: see errors.",
} as const satisfies Partial<Record<ProblemKind | "log-deleted", string>>;

/** A problem as in RFC 9457. `type` is the URI reference of the page that explains the problem. */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  requestId: z.string(),
  errors: z.optional(z.array(z.object({ pointer: z.string(), detail: z.string() }))),
  existingId: z.optional(z.string()),
  expectedOffset: z.optional(z.int()),
});
export type Problem = z.infer<typeof Problem>;
