import * as z from "zod/mini";
import { intBetween } from "./checks.ts";
import { Name, OrgId, Timestamp } from "./common.ts";
import { cursorSchema } from "./page.ts";
import { GIB } from "./units.ts";

const TIB = 1_024 * GIB;

/**
 * The limits of one organization, which keep it from using up shared capacity. 200 people with 5,000 builds a day stay
 * below all of them. The operator can set other limits for one organization: a higher limit for requests, and a higher
 * or lower limit for anything else. The limit 0 stops the limited activity.
 */
export const ORGANIZATION_LIMITS = {
  /** New builds in one day, UTC. */
  buildsPerDay: 20_000,
  /**
   * Requests of all the organization's tokens together, and of all its hooks. Its agents get twice as many.
   * `wrangler.toml` has the number.
   */
  requestsPerMinute: 10_000,
  /** Bytes of artifacts and caches in the archive. */
  storedBytes: 40 * TIB,
  tokens: 1000,
  connections: 100,
  repositories: 5000,
  pipelines: 10_000,
  groups: 2000,
} as const;

const count = () => intBetween(0, 10_000_000);

const SHAPE = {
  buildsPerDay: count(),
  // The platform counts this many requests under one key. A raised limit uses more keys, and a lower limit is not
  // possible.
  requestsPerMinute: intBetween(ORGANIZATION_LIMITS.requestsPerMinute, 10_000_000),
  storedBytes: intBetween(0, 1024 * TIB),
  tokens: count(),
  connections: count(),
  repositories: count(),
  pipelines: count(),
  groups: count(),
} as const satisfies Record<keyof typeof ORGANIZATION_LIMITS, z.ZodMiniType>;

export const OrganizationLimits = z.object(SHAPE);
export type OrganizationLimits = z.infer<typeof OrganizationLimits>;
type LimitName = keyof OrganizationLimits;

type OrNull<S extends Record<string, z.ZodMiniType>> = { [F in keyof S]: z.ZodMiniOptional<z.ZodMiniNullable<S[F]>> };

/** The new limits. Null restores the default. */
export const LimitsChange = z.strictObject(
  Object.fromEntries(Object.entries(SHAPE).map(([name, limit]) => [name, z.nullish(limit)])) as OrNull<typeof SHAPE>,
);

/** The stored limits of an organization that differ from the defaults; null if no limit differs. */
export type OwnLimits = Partial<OrganizationLimits> | null;

/** Returns every limit of an organization. */
export const effectiveLimits = (own: OwnLimits | undefined): OrganizationLimits => ({ ...ORGANIZATION_LIMITS, ...own });

/** Returns the limits to store after a change. A limit set to its default follows later defaults. */
export const changedLimits = (own: OwnLimits, change: z.infer<typeof LimitsChange>): OwnLimits => {
  const limits = Object.entries({ ...own, ...change }) as [LimitName, number | null | undefined][];
  const others = limits.filter(([name, limit]) => limit != null && limit !== ORGANIZATION_LIMITS[name]);
  return others.length === 0 ? null : Object.fromEntries(others.sort());
};

/** Location hints of Durable Objects, as Cloudflare names them. */
export const LocationHint = z.enum(["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"]);

export type LocationHint = z.infer<typeof LocationHint>;

export const Organization = z.object({
  id: OrgId,
  name: Name,
  locationHint: z.nullable(LocationHint),
  createdAt: Timestamp,
  deletingAt: z.nullable(Timestamp),
  limits: OrganizationLimits,
});
export type Organization = z.infer<typeof Organization>;

export const NewOrganization = z.strictObject({
  id: OrgId,
  name: Name,
  locationHint: z.nullish(LocationHint),
});

export const OrganizationChange = z.strictObject({ limits: z.optional(LimitsChange) });

/** The organization with the token of its first admin, which no later answer contains. */
export const CreatedOrganization = z.extend(Organization, { token: z.string() });

/**
 * The progress of a deletion. `closing` means that earlier requests may still be running. `removed` counts everything
 * that this call deleted.
 */
export const OrganizationRemoval = z.object({
  id: OrgId,
  deletingAt: Timestamp,
  step: z.enum(["closing", "builds", "archive", "rows"]),
  removed: z.int(),
});
export type OrganizationRemoval = z.infer<typeof OrganizationRemoval>;

/** The records of an organization, in the order of the export. */
export const NOUNS = [
  "organization",
  "token",
  "connection",
  "repository",
  "credential",
  "pipeline",
  "schedule",
  "group",
  "variable",
  "build",
  "artifact",
  "tests",
  "cache",
  "audit",
  "agent",
] as const;
export type Noun = (typeof NOUNS)[number];

/**
 * The position of an export: a noun, and the id after which its next page begins. With a number of reports, the id is
 * the build of which that many reports are already exported.
 */
const Place = z.string().check(z.regex(new RegExp(`^(?:${NOUNS.join("|")})/[0-9a-f-]{0,36}(?:\\.[0-9]{1,4})?$`)));

export const ExportQuery = z.strictObject({ noun: z.optional(z.enum(NOUNS)), cursor: z.optional(cursorSchema(Place)) });
