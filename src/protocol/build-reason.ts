import * as z from "zod/mini";

/** Why a build or a job ended, where the result of its steps does not say it. */
export const BuildReason = z.enum([
  "agent-lost",
  "timeout",
  "environment",
  "requirements-unmet",
  "commit-not-on-branch",
  "pipeline-invalid",
  "checkout-failed",
  "agent-error",
  "plan-mismatch",
  "queue-full",
  "output-refused",
  "artifact-failed",
  "gate-closed",
  "canceled",
  "fail-fast",
  "superseded",
  "skipped",
]);
export type BuildReason = z.infer<typeof BuildReason>;
