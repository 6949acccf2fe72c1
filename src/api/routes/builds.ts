import { cancelBuild } from "../../services/build-jobs.ts";
import { listBuilds } from "../../services/build-list.ts";
import { deleteBuild, deleteLog, getBuild } from "../../services/builds.ts";
import { explainWait } from "../../services/explain.ts";
import { listLogTimes } from "../../services/logs.ts";
import { retryBuild } from "../../services/retry.ts";
import { triggerBuild, triggerRepositoryBuild } from "../../services/triggers.ts";
import { readLog } from "../../web/log.ts";
import { act, create, describing, get, type Route, remove } from "./route.ts";

export const BUILD_ROUTES: Route[] = [
  create(
    "/repository/:id/build",
    "/build/:id",
    { triggerRepositoryBuild },
    describing && {
      tag: "Builds",
      summary: "Trigger a build of a repository with its default pipeline",
      headers: ["IdempotencyKey"],
      problems: ["conflict", "idempotency-mismatch", "limit-reached"],
    },
  ),
  get(
    "/build",
    { listBuilds },
    describing && {
      tag: "Builds",
      summary: "List builds, newest first",
      description:
        "A build in the list has no environment, steps and summary: read the build by its id. A list of ended builds may miss a build that ended a moment ago.",
    },
  ),
  create(
    "/build",
    "/build/:id",
    { triggerBuild },
    describing && {
      tag: "Builds",
      summary: "Trigger a build of a repository or pipeline",
      description:
        "`envVariables` override every other scope for this build; they are stored sealed and never returned. A caller who can trigger a build can run code with its secrets.",
      headers: ["IdempotencyKey"],
      problems: ["conflict", "idempotency-mismatch", "limit-reached"],
    },
  ),
  get("/build/:id", { getBuild }, describing && { tag: "Builds", summary: "Get a build" }),
  remove(
    "/build/:id",
    { deleteBuild },
    describing && {
      tag: "Builds",
      summary: "Delete a build that has ended, with its log",
      description: "It cannot be undone. Its number is not used again, and the audit log keeps who deleted it.",
      problems: ["conflict"],
    },
  ),
  act(
    "/build/:id/cancel",
    { cancelBuild },
    describing && {
      tag: "Builds",
      summary: "Cancel a build",
      description: "The answer is 200 again while the build is canceling, and 409 when it has ended.",
      problems: ["conflict"],
    },
  ),
  get(
    "/build/:id/explain",
    { explainBuild: explainWait },
    describing && { tag: "Builds", summary: "Explain why a build waits, agent by agent" },
  ),
  create(
    "/build/:id/retry",
    "/build/:id",
    { retryBuild },
    describing && {
      tag: "Builds",
      summary: "Retry a build with the same inputs",
      description:
        "A new build. With `only: failed`, jobs that succeeded keep their results and outputs; those that failed, were canceled or dropped, and all that need them, run again on the same commit and file.",
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
        "Returns text: the complete log, or a `Range` of it. With `Accept: text/event-stream` the answer follows the log live: the data of each event is one JSON string, `Last-Event-ID` resumes after an event, and the event `end` is the last one.",
      headers: ["Range", "LastEventId"],
      also: { 206: "The bytes of the `Range`", 416: "The log does not have these bytes" },
      text: { types: ["text/plain", "text/event-stream"], alone: true },
    },
    {
      ...{ path: "/job/:id/log", id: "readJobLog" },
      words: describing && {
        summary: "Read or follow a job's log",
        description: "As `/build/{id}/log`, which has only the plan of a build of several jobs.",
      },
    },
  ),
  get(
    "/build/:id/log/times",
    { listLogTimes },
    describing && {
      tag: "Builds",
      summary: "List when the parts of a build's log were stored",
      description:
        "Each entry holds from its `offset`, a byte of the log, to that of the next one: a line has the time of the part in which it begins. Parts that release 0.3.0 stored have no time.",
    },
    {
      ...{ path: "/job/:id/log/times", id: "listJobLogTimes" },
      words: describing && { summary: "List when the parts of a job's log were stored" },
    },
  ),
  remove(
    "/build/:id/log",
    { deleteLog },
    describing && {
      tag: "Builds",
      summary: "Delete the log of a build that has ended",
      description: "The log of every attempt. The build stays. It cannot be undone.",
      problems: ["conflict"],
    },
  ),
];
