import * as z from "zod/mini";
import { intBetween } from "./checks.ts";
import { Name, OrgId, Timestamp } from "./common.ts";
import { cursorSchema } from "./page.ts";
import { GIB } from "./units.ts";

const TIB = 1_024 * GIB;

/**
 * What one organization may have, so that none fills what all share. 200 people with 5,000 builds a day meet none of
 * these. The operator sets others for one organization: more requests, and more or less of the rest, where 0 stops it.
 */
export const ORGANIZATION_LIMITS = {
  /** New builds of one day, UTC. */
  buildsPerDay: 20_000,
  /** Of all its tokens together, of all its hooks, and of its agents twice as many. `wrangler.toml` has the number. */
  requestsPerMinute: 10_000,
  /** In the archive: artifacts and caches. */
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
  // The platform counts so many under one key: a raised limit is more keys, and a lower one none less.
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

/** Null is the default again. */
export const LimitsChange = z.strictObject(
  Object.fromEntries(Object.entries(SHAPE).map(([name, limit]) => [name, z.nullish(limit)])) as OrNull<typeof SHAPE>,
);

/** What is stored of an organization: the limits that differ from the defaults; null where none does. */
export type OwnLimits = Partial<OrganizationLimits> | null;

/** Every limit of an organization. */
export const effectiveLimits = (own: OwnLimits | undefined): OrganizationLimits => ({ ...ORGANIZATION_LIMITS, ...own });

/** What is stored after a change. A limit that is set to its default follows later defaults. */
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

/** The organization with the token of its first admin, which no later answer has. */
export const CreatedOrganization = z.extend(Organization, { token: z.string() });

/** What a deletion is at. `closing`: requests that began before it still end. `removed` counts what this call deleted. */
export const OrganizationRemoval = z.object({
  id: OrgId,
  deletingAt: Timestamp,
  step: z.enum(["closing", "builds", "archive", "rows"]),
  removed: z.int(),
});
export type OrganizationRemoval = z.infer<typeof OrganizationRemoval>;

/** What an organization has, in the order in which it is exported. */
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
 * The place of an export: a noun, and the id after which its next page begins; with a number of reports, the build of
 * which so many are told.
 */
const Place = z.string().check(z.regex(new RegExp(`^(?:${NOUNS.join("|")})/[0-9a-f-]{0,36}(?:\\.[0-9]{1,4})?$`)));

export const ExportQuery = z.strictObject({ noun: z.optional(z.enum(NOUNS)), cursor: z.optional(cursorSchema(Place)) });
