import * as z from "zod/mini";
import { intBetween } from "./checks.ts";
import { OrgId } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";

/** How many values are sealed under each key. */
export const SealedCounts = z.object({
  currentKeyId: z.string(),
  knownKeyIds: z.array(z.string()),
  byKeyId: z.record(
    z.string(),
    z.object({ variables: z.int(), credentials: z.int(), connections: z.int(), inputs: z.int(), logs: z.int() }),
  ),
  isComplete: z.boolean(),
  /** The organization up to which objects were asked; null where there is none behind. */
  after: z.nullable(OrgId),
});
export type SealedCounts = z.infer<typeof SealedCounts>;

export const SealedFilter = z.strictObject({ after: z.optional(OrgId) });

export const Rewrap = z.strictObject({
  limit: z._default(intBetween(1, LIMITS.rewrapBatch), DEFAULTS.rewrapBatch),
});

/** The result of one batch: repeat until `isComplete`. `unopenable` has the ids of values that no known key opens. */
export const Rewrapped = z.extend(SealedCounts, {
  rewrapped: z.int(),
  unopenable: z.array(z.string()),
});
export type Rewrapped = z.infer<typeof Rewrapped>;
