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
      description: "Filters narrow each other. Inactive ones are left out unless `includeInactive=true`.",
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
        "The scope decides which id is needed: `organization` orgId; `group` orgId and groupId; `repository` repoId; `pipeline` pipelineId. A secret that hides badly answers with `warnings`.",
      versioned: true,
      problems: ["duplicate"],
    },
  ),
  get(
    "/secrets/unused",
    { listUnused },
    describing && { tag: "Variables", summary: "List secrets that no build was given lately" },
  ),
  get(
    "/secrets/variables/:id/uses",
    { listUses },
    describing && {
      tag: "Variables",
      summary: "List the builds that were given a variable",
      description: "The newest 200.",
    },
  ),
  get(
    "/secrets/variables/:id",
    { getVariable },
    describing && { tag: "Variables", summary: "Show a variable", versioned: true },
  ),
  update(
    "/secrets/variables/:id",
    { updateVariable },
    describing && {
      tag: "Variables",
      summary: "Change a variable",
      description:
        "A field left out stays. A secret becomes a plain variable only together with a new value: none is ever unmasked.",
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
