import * as z from "zod/mini";
import { BuildReason } from "./build.ts";
import { BuildStatus } from "./build-states.ts";
import { OrgId, Timestamp } from "./common.ts";

/** The maximum size of a D1 database. */
export const DATABASE_LIMIT_BYTES = 10_000_000_000;

/** A pool that may need attention. */
export const NotablePool = z.object({
  orgId: OrgId,
  waiting: z.int(),
  oldestWaitSeconds: z.number(),
  outboxSeconds: z.number(),
});

/** The builds of an organization today (UTC). */
export const OrganizationDay = z.object({ orgId: OrgId, buildsToday: z.int(), buildsPerDay: z.int() });
export type OrganizationDay = z.infer<typeof OrganizationDay>;

/** The storage of an organization in the archive. */
export const OrganizationStore = z.object({ orgId: OrgId, storedBytes: z.int(), mostStoredBytes: z.int() });
export type OrganizationStore = z.infer<typeof OrganizationStore>;

/** The metrics of the whole deployment, for the people on call: the last findings of upkeep, and its own state. */
export const ServiceMetrics = z.object({
  isUp: z.boolean(),
  upkeep: z.object({
    lastRunAt: z.nullable(Timestamp),
    ageSeconds: z.nullable(z.number()),
    setAside: z.array(z.object({ kind: z.string(), count: z.int(), mostTries: z.int() })),
  }),
  pools: z.object({ swept: z.int(), failed: z.int(), largestBytes: z.int(), notable: z.array(NotablePool) }),
  builds: z.object({
    active: z.int(),
    waiting: z.int(),
    oldestWaitSeconds: z.number(),
    ended: z.array(z.object({ status: BuildStatus, reason: z.nullable(BuildReason), count: z.int() })),
    requeues: z.int(),
    handOuts: z.int(),
    offersIgnored: z.int(),
  }),
  organizations: z.array(OrganizationDay),
  stores: z.array(OrganizationStore),
  leasesLost: z.object({ expired: z.int(), removed: z.int(), restarted: z.int(), stopped: z.int() }),
  outbox: z.object({ ageSeconds: z.number(), failures: z.int(), deadLetters: z.record(z.string(), z.int()) }),
  database: z.object({
    bytes: z.int(),
    limitBytes: z.int(),
    isNearlyFull: z.boolean(),
    rowsCountedAt: z.nullable(Timestamp),
    rows: z.record(z.string(), z.int()),
  }),
});
export type ServiceMetrics = z.infer<typeof ServiceMetrics>;
