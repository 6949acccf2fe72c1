import * as z from "zod/mini";
import { LEASED, type LeasedStatus } from "./build-states.ts";
import { OrgId, Timestamp } from "./common.ts";
import { Requires } from "./pipeline.ts";

/**
 * The builds that have the same requirements, and the agents that meet these requirements. This is enough for an
 * autoscaler.
 */
export const RequirementMetrics = z.object({
  requires: Requires,
  waiting: z.int(),
  running: z.int(),
  oldestWaitSeconds: z.number(),
  agents: z.int(),
  idle: z.int(),
});

const LEASED_COUNTS = Object.fromEntries(LEASED.map((status) => [status, z.int()])) as Record<
  LeasedStatus,
  z.ZodMiniNumberFormat
>;

/** The state of the pool at one moment, for dashboards and autoscalers. */
export const Metrics = z.object({
  orgId: OrgId,
  at: Timestamp,
  builds: z.object({ waiting: z.int(), ...LEASED_COUNTS }),
  oldestWaitSeconds: z.number(),
  agents: z.object({
    registered: z.int(),
    online: z.int(),
    idle: z.int(),
    busy: z.int(),
    draining: z.int(),
    offline: z.int(),
  }),
  outbox: z.object({
    builds: z.int(),
    failures: z.int(),
    deadLetters: z.int(),
    /** The old name of `deadLetters`, which will be removed on the next breaking date. */
    parked: z.int(),
  }),
  byRequirement: z.array(RequirementMetrics),
});
export type Metrics = z.infer<typeof Metrics>;

/** Counts of active builds at this moment. */
export interface PoolNow {
  running: number;
  waiting: number;
  /** Builds with an open gate on which a person of the given role may decide. No other count includes them. */
  forRole: number;
}
