import * as z from "zod/mini";
import { Name, OrgId, Timestamp } from "./common.ts";

/** Location hints of Durable Objects, as Cloudflare names them. */
export const LocationHint = z.enum(["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"]);

export type LocationHint = z.infer<typeof LocationHint>;

export const Organization = z.object({
  id: OrgId,
  name: Name,
  locationHint: z.nullable(LocationHint),
  createdAt: Timestamp,
});
export type Organization = z.infer<typeof Organization>;

export const NewOrganization = z.strictObject({
  id: OrgId,
  name: Name,
  locationHint: z.nullish(LocationHint),
});

/** The organization with the token of its first admin, which no later answer has. */
export const CreatedOrganization = z.extend(Organization, { token: z.string() });
