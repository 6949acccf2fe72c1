import { byteSize, DEFAULTS, LIMITS } from "../../../protocol/limits.ts";
import type { Words } from "./schema-words.ts";

export const SCHEDULES: Words = {
  Schedule: {
    is: "Builds of a pipeline at set times.",
    fields: {
      id: "Id of the schedule.",
      orgId: "Id of the organization.",
      pipelineId: "Id of the pipeline.",
      name: "Name, unique in the pipeline. Its builds have it as `schedule`.",
      cron: "Five fields: minute, hour, day of the month, month, day of the week. At least five minutes are between two times.",
      timeZone: "The zone of its hours, as Europe/Berlin. Default: UTC.",
      ref: "The whole name of the branch or tag that is built; null for the repository's default branch.",
      envKeys: "Names of the variables of its builds. Their values are stored sealed and never returned.",
      isActive: "true: it builds. Times that pass while it is off are not made up for.",
      source: "api: made by a request. file: the pipeline's file has it.",
      nextAt: "The next time; in the past while a build is late. null while it is off.",
      next: `The next ${DEFAULTS.nextTimes} times from now on; none while it is off.`,
      lastAt: "The time that its last build was made for; null where it made none yet.",
      lastBuildId: "Id of its last build; null where it made none yet.",
      lastStatus: "How its last build ended; null while that is active, or is gone.",
      problem: "Why a build is late; null where none is.",
      createdAt: "Time of creation.",
      updatedAt: "Time of the last change; a build is none.",
    },
  },
  NewSchedule: {
    is: "A schedule to create.",
    like: "Schedule",
    fields: {
      envVariables: `Variables of its builds, by name: at most ${byteSize(LIMITS.scheduleVariablesBytes)} as JSON. They are stored sealed and never returned.`,
    },
  },
  ScheduleUpdate: {
    is: "A change of a schedule.",
    like: "Schedule",
    fields: { envVariables: "Variables that replace all that it had: {} takes them away." },
  },
  NextTimes: { is: "Next times of a schedule.", fields: { next: "The times, the earliest first." } },
};
