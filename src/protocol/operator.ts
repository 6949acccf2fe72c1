import * as z from "zod/mini";
import { intBetween } from "./checks.ts";
import { OrgId, Timestamp } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";

/** The number of values sealed under each key. */
export const SealedCounts = z.object({
  currentKeyId: z.string(),
  knownKeyIds: z.array(z.string()),
  byKeyId: z.record(
    z.string(),
    z.object({ variables: z.int(), credentials: z.int(), connections: z.int(), inputs: z.int(), logs: z.int() }),
  ),
  isComplete: z.boolean(),
  /** The last organization whose objects were checked; null if none remain. */
  after: z.nullable(OrgId),
});
export type SealedCounts = z.infer<typeof SealedCounts>;

export const SealedFilter = z.strictObject({ after: z.optional(OrgId) });

export const Rewrap = z.strictObject({
  limit: z._default(intBetween(1, LIMITS.rewrapBatch), DEFAULTS.rewrapBatch),
});

/**
 * The result of one batch. Repeat the request until `isComplete`. `unopenable` has the ids of values that no known key
 * opens.
 */
export const Rewrapped = z.extend(SealedCounts, {
  rewrapped: z.int(),
  unopenable: z.array(z.string()),
});
export type Rewrapped = z.infer<typeof Rewrapped>;

/** A row that its pool can never deliver, or cannot read. */
export const DeadLetter = z.object({
  seq: z.int(),
  what: z.string(),
  reason: z.string(),
  at: z.nullable(Timestamp),
});
export type DeadLetter = z.infer<typeof DeadLetter>;

/** The dead letters to retry: those with these numbers, or the first page of them. */
export const DeadLetterRetry = z.strictObject({
  orgId: OrgId,
  seqs: z.optional(z.array(intBetween(1, Number.MAX_SAFE_INTEGER)).check(z.maxLength(LIMITS.pageLength))),
});

/** The number of dead letters that are being retried. */
export const DeadLettersRetried = z.object({ retried: z.int() });

/** The part that was restored to an earlier time: the database, or the pools of agents and builds. */
export const Restore = z.strictObject({
  what: z.enum(["database", "pools"]),
  orgId: z.nullish(OrgId),
  after: z.nullish(OrgId),
  limit: z._default(intBetween(1, LIMITS.restoreBatch), DEFAULTS.restoreBatch),
});

/** The result of one batch of organizations. Repeat the request with `after` until `after` is null. */
export const Restored = z.object({
  organizations: z.int(),
  ended: z.int(),
  lost: z.int(),
  told: z.int(),
  agentsRemoved: z.int(),
  failed: z.array(OrgId),
  after: z.nullable(OrgId),
});

/** The time to which to restore the pool of one organization. */
export const PoolRestore = z.strictObject({ orgId: OrgId, at: z.iso.datetime({ offset: true }) });

/** The result of the restore. `undo` names the previous state. */
export const PoolRestored = z.object({ orgId: OrgId, undo: z.string() });
