import type { NewBuild } from "../../src/queue/commands/commands.ts";

/** A build as a Worker enqueues it, with only the required fields of a trigger. */
export const DEFAULT_BUILD: Omit<NewBuild, "id"> = {
  orgId: "acme",
  repoId: "repo",
  pipelineId: "pipeline",
  pipelineVersion: 1,
  branch: "main",
  commitSha: null,
  trigger: "api",
  priority: 0,
  requires: {},
  timeoutSeconds: 3600,
  maxParallel: null,
  maxAttempts: 2,
  inputs: null,
  secretKeys: [],
  retryOf: null,
  idempotency: null,
  actor: { actor: "token:t", requestId: "r" },
};
