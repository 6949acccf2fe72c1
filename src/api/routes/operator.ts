import { createAdminToken, createOrganization, listOrganizations } from "../../services/organizations.ts";
import { countSealed, rewrap } from "../../services/rewrap.ts";
import { act, create, describing, get, type Route } from "./route.ts";

export const OPERATOR_ROUTES: Route[] = [
  get(
    "/organization",
    { listOrganizations },
    describing && { tag: "Operator", summary: "List organizations", description: "In the order of their slugs." },
  ),
  create(
    "/organization",
    "/organization/:id",
    { createOrganization },
    describing && {
      tag: "Operator",
      summary: "Make an organization and its first admin's token",
      description: "The token is in the answer, this once. The slug is never used again.",
      problems: ["duplicate"],
    },
  ),
  create(
    "/organization/:id/token",
    "/token/:id",
    { createAdminToken },
    describing && {
      tag: "Operator",
      summary: "Make an admin's token for an organization",
      description: "The way back in when an organization's last admin token is lost.",
    },
  ),
  get(
    "/operator/rewrap",
    { countSealed },
    describing && {
      tag: "Operator",
      summary: "Count what is sealed with which key",
      description: "A key may be taken off the ring once its counts are zero twice in a row.",
    },
  ),
  act(
    "/operator/rewrap",
    { rewrap },
    describing && {
      tag: "Operator",
      summary: "Seal one batch again with the current key",
      description: "Repeat it until `isComplete`. It may be stopped at any point and runs beside changes, which win.",
    },
  ),
];
