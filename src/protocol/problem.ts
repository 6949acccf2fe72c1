import * as z from "zod/mini";

/** Every kind of problem the service answers with: its status and title. The list is closed. */
export const PROBLEMS = {
  "malformed-body": [400, "The body cannot be read"],
  unauthenticated: [401, "A valid token is needed"],
  forbidden: [403, "This token may not do that"],
  "not-found": [404, "There is no such thing"],
  "method-not-allowed": [405, "This method is not allowed here"],
  conflict: [409, "The present state does not allow that"],
  duplicate: [409, "That exists already"],
  "in-use": [409, "It is still in use"],
  "lease-lost": [409, "The lease is no longer current"],
  "log-gap": [409, "The log chunk does not follow what is stored"],
  "stale-version": [412, "It was changed in the meantime"],
  "too-large": [413, "That is too large"],
  "unsupported-media-type": [415, "This content type is not understood"],
  invalid: [422, "The request is well-formed but invalid"],
  "idempotency-mismatch": [422, "The key was used for another request"],
  "rate-limited": [429, "Too many requests"],
  "limit-reached": [429, "A limit of the organization is reached"],
  internal: [500, "Something went wrong on our side"],
  unavailable: [503, "A part of the service is away"],
  "keyring-unavailable": [503, "The keys to the secrets are missing or wrong"],
} as const satisfies Record<string, readonly [status: number, title: string]>;
export type ProblemKind = keyof typeof PROBLEMS;

/** Details that more than one room answers with. None repeats what was sent. */
export const DETAILS = {
  unauthenticated: "The token is invalid or has expired.",
  "not-found": "Nothing with this id exists here.",
  "lease-lost": "This lease is no longer current: drop the build and poll again.",
  invalid: "The request is invalid: see errors.",
} as const satisfies Partial<Record<ProblemKind, string>>;

/** RFC 9457. `type` is the URI reference of the page that explains it. */
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
