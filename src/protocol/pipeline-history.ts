import * as z from "zod/mini";
import { BuildStatus } from "./build-states.ts";
import { Id, QueryFlag, Timestamp } from "./common.ts";
import { NEWEST_PAGE } from "./page.ts";

/** An ended build, as a chart's bar shows it. */
export const BuildOfHistory = z.object({
  id: Id,
  number: z.int(),
  branch: z.string(),
  tag: z.nullable(z.string()),
  status: BuildStatus,
  isFlaky: z.boolean(),
  subject: z.nullable(z.string()),
  author: z.nullable(z.string()),
  queuedAt: Timestamp,
  startedAt: z.nullable(Timestamp),
  finishedAt: Timestamp,
});
export type BuildOfHistory = z.infer<typeof BuildOfHistory>;

/** Durations in seconds. Half of the builds took at most p50, and nine in ten at most p90. */
const Percentiles = z.nullable(z.object({ p50: z.number(), p90: z.number() }));

/** The builds of seven days. */
export const WeekOfBuilds = z.object({
  succeeded: z.int(),
  failed: z.int(),
  canceled: z.int(),
  flaky: z.int(),
  tookSeconds: Percentiles,
  waitedSeconds: Percentiles,
});
export type WeekOfBuilds = z.infer<typeof WeekOfBuilds>;

/** When the default branch began to fail. */
export const FailingSince = z.object({
  buildId: Id,
  builds: z.int(),
  commits: z.nullable(z.int()),
  isCertain: z.boolean(),
  hasPassed: z.boolean(),
});

export const PipelineHistory = z.object({
  pipelineId: Id,
  name: z.string(),
  repoId: Id,
  repository: z.string(),
  isRed: z.boolean(),
  failingSince: z.nullable(FailingSince),
  /** The builds, newest first, at most 30. */
  builds: z.array(BuildOfHistory),
  week: WeekOfBuilds,
  weekBefore: WeekOfBuilds,
});
export type PipelineHistory = z.infer<typeof PipelineHistory>;

export const HistoryFilter = z.strictObject({ isRed: z.optional(QueryFlag), ...NEWEST_PAGE });
