import type { JobContext } from "../../src/pipeline/prepare/job-context.ts";

/** What a job says of a build that a request made. */
export const BY_REQUEST = {
  ...{
    event: "api",
    ref: "refs/heads/main",
    tag: null,
    pull: null,
    base: null,
    schedule: null,
    trusted: true,
    trigger: "api",
  },
} as const satisfies Partial<JobContext["build"]>;
