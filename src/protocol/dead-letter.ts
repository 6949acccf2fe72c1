import * as z from "zod/mini";
import { intBetween } from "./checks.ts";
import { OrgId, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";

/** A row that its pool can never deliver, or cannot read. */
export const DeadLetter = z.object({
  seq: z.int(),
  what: z.string(),
  reason: z.string(),
  at: z.nullable(Timestamp),
});
export type DeadLetter = z.infer<typeof DeadLetter>;

/** Which dead letters to try again: those of these numbers, or the first page. */
export const DeadLetterRetry = z.strictObject({
  orgId: OrgId,
  seqs: z.optional(z.array(intBetween(1, Number.MAX_SAFE_INTEGER)).check(z.maxLength(LIMITS.pageLength))),
});

/** How many are on their way again. */
export const DeadLettersRetried = z.object({ retried: z.int() });
