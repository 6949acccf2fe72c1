import * as z from "zod/mini";
import { EnvVariables } from "./build.ts";
import { BuildStatus } from "./build-states.ts";
import { atMost, notEmpty, queryNumber } from "./checks.ts";
import { Id, Name, OrgId, Timestamp } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";
import { PAGE } from "./page.ts";
import { Branch } from "./repository.ts";

/**
 * A schedule for builds of a pipeline at set times. `nextAt` and `next` are future times. They are null and empty while
 * the schedule is off.
 */
export const Schedule = z.object({
  id: Id,
  orgId: OrgId,
  pipelineId: Id,
  name: z.string(),
  cron: z.string(),
  timeZone: z.string(),
  ref: z.nullable(z.string()),
  envKeys: z.array(z.string()),
  isActive: z.boolean(),
  source: z.enum(["api", "file"]),
  nextAt: z.nullable(Timestamp),
  next: z.array(Timestamp),
  lastAt: z.nullable(Timestamp),
  lastBuildId: z.nullable(Id),
  lastStatus: z.nullable(BuildStatus),
  problem: z.nullable(z.string()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Schedule = z.infer<typeof Schedule>;

/** A cron line of five fields, in the syntax of `domain/schedule.ts`, which reports mistakes. */
const CronLine = z.string().check(notEmpty(), atMost(LIMITS.cronCharacters));
const TimeZone = z.string().check(notEmpty(), atMost(LIMITS.timeZoneCharacters));

export const NewSchedule = z.strictObject({
  orgId: z.nullish(OrgId),
  pipelineId: Id,
  name: Name,
  cron: CronLine,
  timeZone: z.nullish(TimeZone),
  ref: z.nullish(Branch),
  envVariables: z.nullish(EnvVariables),
  isActive: z.nullish(z.boolean()),
});

export const ScheduleChange = z.strictObject({
  name: z.optional(Name),
  cron: z.optional(CronLine),
  timeZone: z.optional(TimeZone),
  ref: z.optional(z.nullable(Branch)),
  envVariables: z.optional(EnvVariables),
  isActive: z.optional(z.boolean()),
});

export const ScheduleFilter = z.strictObject({ pipelineId: z.optional(Id), ...PAGE });

export const NextTimesQuery = z.strictObject({
  count: z.optional(z._default(queryNumber(1, LIMITS.nextTimes), DEFAULTS.nextTimes)),
});

/** The next times of a schedule, whether it is on or off. */
export const NextTimes = z.object({ next: z.array(Timestamp) });
