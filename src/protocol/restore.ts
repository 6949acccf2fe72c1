import * as z from "zod/mini";
import { intBetween } from "./checks.ts";
import { OrgId } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";

/** What was restored to an earlier time: the database, or the pools of agents and builds. */
export const Restore = z.strictObject({
  what: z.enum(["database", "pools"]),
  orgId: z.nullish(OrgId),
  after: z.nullish(OrgId),
  limit: z._default(intBetween(1, LIMITS.restoreBatch), DEFAULTS.restoreBatch),
});

/** What one batch of organizations did: repeat with `after` until it is null. */
export const Restored = z.object({
  organizations: z.int(),
  ended: z.int(),
  lost: z.int(),
  told: z.int(),
  agentsRemoved: z.int(),
  failed: z.array(OrgId),
  after: z.nullable(OrgId),
});

/** The time to which the pool of one organization is set back. */
export const PoolRestore = z.strictObject({ orgId: OrgId, at: z.iso.datetime({ offset: true }) });

/** `undo` names the state before it. */
export const PoolRestored = z.object({ orgId: OrgId, undo: z.string() });
