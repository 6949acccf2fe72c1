import { createAdminToken, createOrganization, listOrganizations } from "../../services/organizations.ts";
import { countSealed, rewrap } from "../../services/rewrap.ts";
import { act, create, describing, get, type Route } from "./route.ts";

export const OPERATOR_ROUTES: Route[] = [
  get(
    "/organization",
    { listOrganizations },
    describing && { tag: "Operator", summary: "List organizations", description: "Sorted by slug." },
  ),
  create(
    "/organization",
    "/organization/:id",
    { createOrganization },
    describing && {
      tag: "Operator",
      summary: "Create an organization and its first admin token",
      description: "The answer contains the token; no later answer does. The slug is never used again.",
      problems: ["duplicate"],
    },
  ),
  create(
    "/organization/:id/token",
    "/token/:id",
    { createAdminToken },
    describing && {
      tag: "Operator",
      summary: "Create an admin token for an organization",
      description: "Restores access when the last admin token of an organization is lost.",
    },
  ),
  get(
    "/operator/rewrap",
    { countSealed },
    describing && {
      tag: "Operator",
      summary: "Count the values that are sealed with each key",
      description: "A key may be removed from the keyring once its counts are zero in two answers in a row.",
    },
  ),
  act(
    "/operator/rewrap",
    { rewrap },
    describing && {
      tag: "Operator",
      summary: "Seal one batch of values again with the current key",
      description:
        "Repeat the request until `isComplete` is true. It may be interrupted at any point. Changes at the same time take precedence.",
    },
  ),
];
