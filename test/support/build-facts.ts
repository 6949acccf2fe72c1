import type { JobContext } from "../../src/pipeline/prepare/job-context.ts";

/** The facts of a job whose build a request created. */
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
