import { previewEnvironment } from "../../services/environment-preview.ts";
import { checkPipeline } from "../../services/pipeline-check.ts";
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
      description: "The first pipeline of a repository becomes its default. `groupIds` are in order: a later one wins.",
      versioned: true,
      problems: ["duplicate"],
    },
  ),
  act(
    "/pipeline/check",
    { checkPipeline },
    describing && {
      tag: "Pipelines",
      summary: "Check a pipeline file without keeping or building it",
      description:
        "Every mistake at once, with its line and column. With a repository or pipeline, variables that nobody set are found too.",
    },
  ),
  get(
    "/pipeline/:id",
    { getPipeline },
    describing && { tag: "Pipelines", summary: "Show a pipeline", versioned: true },
  ),
  update(
    "/pipeline/:id",
    { updatePipeline },
    describing && {
      tag: "Pipelines",
      summary: "Change a pipeline",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
  ),
  remove(
    "/pipeline/:id",
    { deletePipeline },
    describing && {
      tag: "Pipelines",
      summary: "Delete a pipeline with its variables",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
  ),
  get(
    "/pipeline/:id/environment",
    { previewEnvironment },
    describing && {
      tag: "Pipelines",
      summary: "Show what a build would find in its environment",
      description: "Per key the scope that wins and what it overrides. Never a secret's value.",
      problems: ["too-large"],
    },
  ),
];
