import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "../../services/groups.ts";
import { create, describing, get, type Route, remove, update } from "./route.ts";

export const GROUP_ROUTES: Route[] = [
  get(
    "/secrets/groups",
    { listGroups },
    describing && {
      tag: "Groups",
      summary: "List groups",
      description: "With `includeVariables=true` each group contains its variables, without the values of secrets.",
    },
  ),
  create(
    "/secrets/groups",
    "/secrets/groups/:id",
    { createGroup },
    describing && {
      tag: "Groups",
      summary: "Create a group",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
  ),
  get("/secrets/groups/:id", { getGroup }, describing && { tag: "Groups", summary: "Get a group", versioned: true }),
  update(
    "/secrets/groups/:id",
    { updateGroup },
    describing && { tag: "Groups", summary: "Update a group", versioned: true, problems: ["duplicate", "conflict"] },
  ),
  remove(
    "/secrets/groups/:id",
    { deleteGroup },
    describing && {
      tag: "Groups",
      summary: "Delete a group and its variables",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
  ),
];
