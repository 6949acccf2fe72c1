import { createBadge, deleteBadge } from "../../services/badges.ts";
import { previewEnvironment } from "../../services/environment-preview.ts";
import { checkPipeline } from "../../services/pipeline-check.ts";
import { getPipelineHistory, listPipelineHistories } from "../../services/pipeline-histories.ts";
import {
  createPipeline,
  deletePipeline,
  getPipeline,
  listPipelines,
  updatePipeline,
} from "../../services/pipelines.ts";
import { act, create, describing, get, type Route, remove, update } from "./route.ts";

export const PIPELINE_ROUTES: Route[] = [
  get("/pipeline", { listPipelines }, describing && { tag: "Pipelines", summary: "List pipelines" }),
  create(
    "/pipeline",
    "/pipeline/:id",
    { createPipeline },
    describing && {
      tag: "Pipelines",
      summary: "Create a pipeline",
      description:
        "The first pipeline of a repository becomes its default. `groupIds` are in order: a later group overrides an earlier one.",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
  ),
  act(
    "/pipeline/check",
    { checkPipeline },
    describing && {
      tag: "Pipelines",
      summary: "Check a pipeline file without storing or running it",
      description:
        "Returns all mistakes, each with its line and column. With a repository or pipeline, the check also finds variables and groups that do not exist. For a file of several jobs it returns them, with how many registered agents could take each.",
    },
  ),
  get(
    "/pipeline/history",
    { listPipelineHistories },
    describing && {
      tag: "Pipelines",
      summary: "List the histories of pipelines",
      description:
        "The last 30 ended builds of the default branch or of tags, and what the last seven days and the seven before were like: counted once a minute. The pipeline with the newest build comes first; one without such builds is absent.",
    },
  ),
  get("/pipeline/:id", { getPipeline }, describing && { tag: "Pipelines", summary: "Get a pipeline", versioned: true }),
  update(
    "/pipeline/:id",
    { updatePipeline },
    describing && {
      tag: "Pipelines",
      summary: "Update a pipeline",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
  ),
  remove(
    "/pipeline/:id",
    { deletePipeline },
    describing && {
      tag: "Pipelines",
      summary: "Delete a pipeline and its variables",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
  ),
  get(
    "/pipeline/:id/history",
    { getPipelineHistory },
    describing && { tag: "Pipelines", summary: "Get the history of a pipeline" },
  ),
  get(
    "/pipeline/:id/environment",
    { previewEnvironment },
    describing && {
      tag: "Pipelines",
      summary: "Preview the environment of a build",
      description:
        "For each key: the scope that provides the value, and what it overrides. The values of secrets are absent.",
      problems: ["too-large"],
    },
  ),
  act(
    "/pipeline/:id/badge",
    { createBadge },
    describing && {
      tag: "Pipelines",
      summary: "Make the address of a badge",
      description:
        "An image of how the newest build ended, for whoever has its address: `?branch=` names another branch than the default one. An address that was made before shows nothing any more.",
      problems: ["conflict"],
    },
  ),
  remove(
    "/pipeline/:id/badge",
    { deleteBadge },
    describing && { tag: "Pipelines", summary: "Revoke the address of a badge", problems: ["conflict"] },
  ),
];
