import * as z from "zod";
import { Id, Labels, OrgId, Timestamp } from "./common.ts";
import { PAGE } from "./page.ts";
import { Origin } from "./pipeline.ts";
import { Branch, CommitSha } from "./repository.ts";
import { Key } from "./variable.ts";

export const LIVE = ["assigned", "running", "canceling"] as const;
export const TERMINAL = ["succeeded", "failed", "canceled"] as const;
export const BuildStatus = z.enum(["queued", ...LIVE, ...TERMINAL]);
export type BuildStatus = z.infer<typeof BuildStatus>;

/** Why a build ended other than by its steps' own result. */
export const BuildReason = z.enum([
  "agent-lost",
  "timeout",
  "environment",
  "requirements-unmet",
  "commit-not-on-branch",
  "pipeline-invalid",
  "checkout-failed",
  "agent-error",
  "canceled",
]);
export type BuildReason = z.infer<typeof BuildReason>;

export const StepStatus = z.enum(["pending", "running", "succeeded", "failed", "skipped", "canceled"]);

/** One step as its agent reported it; `logOffset` is where its part of the stored log begins, in bytes. */
export const Step = z.object({
  id: z.string().nullable(),
  name: z.string(),
  status: StepStatus,
  exitCode: z.int().nullable(),
  startedAt: Timestamp.nullable(),
  finishedAt: Timestamp.nullable(),
  logOffset: z.int().nullable(),
});
export type Step = z.infer<typeof Step>;

/** A key the build was given, where its value came from, and which version of the variable that was. */
export const EnvironmentKey = z.object({
  key: z.string(),
  scope: Origin,
  isSecret: z.boolean(),
  version: z.int().nullable(),
});
export type EnvironmentKey = z.infer<typeof EnvironmentKey>;

export const Build = z.object({
  id: Id,
  number: z.int().meta({ description: "Counts up per repository" }),
  orgId: OrgId,
  repoId: Id,
  pipelineId: Id.nullable(),
  branch: z.string(),
  commitSha: z.string().nullable(),
  status: BuildStatus,
  trigger: z.enum(["api", "retry"]),
  priority: z.int(),
  agentId: Id.nullable(),
  attempt: z.int(),
  exitCode: z.int().nullable(),
  reason: BuildReason.nullable(),
  message: z.string().nullable().meta({ description: "What a person should know about how it ended" }),
  leak: z.boolean().meta({ description: "The service masked a secret that the agent had let through" }),
  environment: z.array(EnvironmentKey).nullable(),
  steps: z.array(Step),
  summary: z.string().nullable(),
  retryOf: Id.nullable(),
  queuedAt: Timestamp,
  startedAt: Timestamp.nullable(),
  finishedAt: Timestamp.nullable(),
});
export type Build = z.infer<typeof Build>;

/** Per-run overrides, name to text; numbers and booleans become text. */
export const EnvVariables = z.record(
  Key,
  z
    .union([
      z.string().refine((text) => !text.includes("\0"), "must not have a NUL character"),
      z.number(),
      z.boolean(),
    ])
    .transform(String),
);

export const RepositoryTrigger = z.strictObject({ branch: Branch, commitSha: CommitSha.nullish() });

export const BuildTrigger = z.strictObject({
  repoId: Id.nullish(),
  pipelineId: Id.nullish(),
  branch: Branch,
  commitSha: CommitSha.nullish(),
  envVariables: EnvVariables.nullish(),
  secretKeys: z.array(Key).max(1000).nullish(),
  priority: z.int().min(-100, "must be -100 to 100").max(100, "must be -100 to 100").nullish(),
  labels: Labels.nullish(),
});
export type BuildTrigger = z.infer<typeof BuildTrigger>;

export const BuildFilter = z.strictObject({
  repoId: Id.optional(),
  pipelineId: Id.optional(),
  branch: z.string().max(250).optional(),
  status: BuildStatus.optional(),
  ...PAGE,
});
