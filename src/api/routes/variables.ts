import { listUnused, listUses } from "../../services/variable-uses.ts";
import {
  createVariable,
  deleteVariable,
  getVariable,
  listVariables,
  updateVariable,
} from "../../services/variables.ts";
import { create, describing, get, type Route, remove, update } from "./route.ts";

export const VARIABLE_ROUTES: Route[] = [
  get(
    "/secrets/variables",
    { listVariables },
    describing && {
      tag: "Variables",
      summary: "List variables",
      description:
        "Filters combine: a variable must match all of them. Inactive variables are listed with `includeInactive=true` only.",
    },
  ),
  create(
    "/secrets/variables",
    "/secrets/variables/:id",
    { createVariable },
    describing && {
      tag: "Variables",
      summary: "Create a variable or secret",
      description:
        "The scope decides which ids are required: `organization` orgId; `group` orgId and groupId; `repository` repoId; `pipeline` pipelineId. The answer has `warnings` if the secret cannot be masked well.",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
  ),
  get(
    "/secrets/unused",
    { listUnused },
    describing && { tag: "Variables", summary: "List secrets that no build received recently" },
  ),
  get(
    "/secrets/variables/:id/uses",
    { listUses },
    describing && {
      tag: "Variables",
      summary: "List the first build of each day that received a variable",
      description: "The newest 200 days. The audit has every hand-out, with the keys: `build.deliver`.",
    },
  ),
  get(
    "/secrets/variables/:id",
    { getVariable },
    describing && { tag: "Variables", summary: "Get a variable", versioned: true },
  ),
  update(
    "/secrets/variables/:id",
    { updateVariable },
    describing && {
      tag: "Variables",
      summary: "Update a variable",
      description:
        "Fields that are left out stay unchanged. A secret becomes a plain variable only together with a new value, so that no stored secret is ever revealed.",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
  ),
  remove(
    "/secrets/variables/:id",
    { deleteVariable },
    describing && { tag: "Variables", summary: "Delete a variable", versioned: true, problems: ["conflict"] },
  ),
];
