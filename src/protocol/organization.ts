import * as z from "zod";
import { Name, OrgId, Timestamp } from "./common.ts";

/** Places a Durable Object can be asked to live near. */
export const LocationHint = z.enum(["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"]);

export type LocationHint = z.infer<typeof LocationHint>;

export const Organization = z.object({
  id: OrgId,
  name: Name,
  locationHint: LocationHint.nullable(),
  createdAt: Timestamp,
});
export type Organization = z.infer<typeof Organization>;

export const NewOrganization = z.strictObject({
  id: OrgId,
  name: Name,
  locationHint: LocationHint.nullish(),
});

/** The organization with the token of its first admin, which is shown this once. */
export const CreatedOrganization = Organization.extend({ token: z.string() });
