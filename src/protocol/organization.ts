import * as z from "zod/mini";
import { Name, OrgId, Timestamp } from "./common.ts";
import { LimitsChange, OrganizationLimits } from "./organization-limits.ts";
import { cursorOf } from "./page.ts";

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

export const ExportQuery = z.strictObject({ noun: z.optional(z.enum(NOUNS)), cursor: z.optional(cursorOf(Place)) });
