import * as z from "zod/mini";
import { EnvironmentKey, Step } from "./build.ts";
import { JobOfBuild } from "./build-job.ts";
import { Id } from "./common.ts";

/** One complete job, with its steps, the keys of its environment and the names of its outputs. */
export const BuildJob = z.extend(JobOfBuild, {
  buildId: Id,
  environment: z.nullable(z.array(EnvironmentKey)),
  steps: z.array(Step),
  summary: z.nullable(z.string()),
  leak: z.boolean(),
  outputs: z.record(z.string(), z.string()),
});
export type BuildJob = z.infer<typeof BuildJob>;
