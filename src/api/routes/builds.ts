import { cancelBuild, getBuild, listBuilds } from "../../services/builds.ts";
import { explainBuild } from "../../services/explain.ts";
import { retryBuild, triggerBuild, triggerRepositoryBuild } from "../../services/triggers.ts";
import { readLog } from "../../web/log.ts";
import { act, create, describing, get, type Route } from "./route.ts";

export const BUILD_ROUTES: Route[] = [
  create(
    "/repository/:id/build",
    "/build/:id",
    { triggerRepositoryBuild },
    describing && {
      tag: "Builds",
      summary: "Build a repository with its default pipeline",
      headers: ["IdempotencyKey"],
      problems: ["idempotency-mismatch", "limit-reached"],
    },
  ),
  get(
    "/build",
    { listBuilds },
    describing && {
      tag: "Builds",
      summary: "List builds, newest first",
      description: "50 a page unless `limit` says otherwise. May lag behind the single build by a moment.",
    },
  ),
  create(
    "/build",
    "/build/:id",
    { triggerBuild },
    describing && {
      tag: "Builds",
      summary: "Build a repository or pipeline",
      description:
        "`envVariables` override every other scope for this run; they are kept sealed and never returned. Whoever may trigger can run code with the secrets of the build.",
      headers: ["IdempotencyKey"],
      problems: ["idempotency-mismatch", "limit-reached"],
    },
  ),
  get("/build/:id", { getBuild }, describing && { tag: "Builds", summary: "Show a build" }),
  act(
    "/build/:id/cancel",
    { cancelBuild },
    describing && {
      tag: "Builds",
      summary: "Cancel a build",
      description: "Again while it is canceling: 200. Of a build that has ended: 409.",
      problems: ["conflict"],
    },
  ),
  get(
    "/build/:id/explain",
    { explainBuild },
    describing && { tag: "Builds", summary: "Tell why a build waits, agent by agent" },
  ),
  create(
    "/build/:id/retry",
    "/build/:id",
    { retryBuild },
    describing && {
      tag: "Builds",
      summary: "Build again with the same inputs",
      headers: ["IdempotencyKey"],
      problems: ["conflict", "idempotency-mismatch", "limit-reached"],
    },
  ),
  get(
    "/build/:id/log",
    { readLog },
    describing && {
      tag: "Builds",
      summary: "Read or follow a build's log",
      description:
        "As text, whole or a `Range` of it. With `Accept: text/event-stream` it follows the log live: each event's data is one JSON string, `Last-Event-ID` resumes, the event `end` closes it.",
      headers: ["Range", "LastEventId"],
      also: { 206: "The bytes that `Range` asked for", 416: "The log has no such bytes" },
      text: { types: ["text/plain", "text/event-stream"], alone: true },
    },
  ),
];
