import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listNextTimes,
  listSchedules,
  updateSchedule,
} from "../../services/schedules.ts";
import { create, describing, get, type Route, remove, update } from "./route.ts";

export const SCHEDULE_ROUTES: Route[] = [
  get("/schedule", { listSchedules }, describing && { tag: "Schedules", summary: "List schedules" }),
  create(
    "/schedule",
    "/schedule/:id",
    { createSchedule },
    describing && {
      tag: "Schedules",
      summary: "Create a schedule",
      description:
        "`envVariables` override every other scope in its builds; they are stored sealed and never returned. Any number of times that were missed, as while the service was down, is one build.",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
  ),
  get("/schedule/:id", { getSchedule }, describing && { tag: "Schedules", summary: "Get a schedule", versioned: true }),
  update(
    "/schedule/:id",
    { updateSchedule },
    describing && {
      tag: "Schedules",
      summary: "Update a schedule",
      description: "A schedule of the pipeline's file can only be switched off and on.",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
  ),
  remove(
    "/schedule/:id",
    { deleteSchedule },
    describing && {
      tag: "Schedules",
      summary: "Delete a schedule",
      description: "One of the pipeline's file is deleted there.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
  get(
    "/schedule/:id/next",
    { listNextTimes },
    describing && {
      tag: "Schedules",
      summary: "List the next times of a schedule",
      description: "Also of one that is off: then nothing is built at them.",
    },
  ),
];
