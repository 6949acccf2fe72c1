import * as z from "zod/mini";
import { wholeNumber } from "./checks.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";

/** Everything that is sealed, by the id of the key that sealed it. */
export const SealedCounts = z.object({
  currentKeyId: z.string(),
  knownKeyIds: z.array(z.string()),
  byKeyId: z.record(z.string(), z.object({ variables: z.int(), credentials: z.int(), inputs: z.int(), logs: z.int() })),
  isComplete: z.boolean(),
});
export type SealedCounts = z.infer<typeof SealedCounts>;

export const Rewrap = z.strictObject({
  limit: z._default(wholeNumber(1, LIMITS.rewrapBatch), DEFAULTS.rewrapBatch),
});

/** One batch: repeat until `isComplete`. What no known key opens is named, and left as it is. */
export const Rewrapped = z.extend(SealedCounts, {
  rewrapped: z.int(),
  unopenable: z.array(z.string()),
});
