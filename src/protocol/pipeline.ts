import * as z from "zod";
import { Id, Labels, Name, OrgId, Timestamp } from "./common.ts";
import { PAGE } from "./page.ts";
import { SCOPES } from "./variable.ts";

export const PLATFORM_NAMES = ["other", "macos", "linux", "windows"] as const;

/** What an agent must have to be given the build. Left out means: no matter. */
export const Requires = z.strictObject({
  platform: z.enum(["macos", "linux", "windows"]).nullish(),
  ios: z.boolean().nullish(),
  android: z.boolean().nullish(),
  web: z.boolean().nullish(),
  labels: Labels.nullish(),
});
export type Requires = z.infer<typeof Requires>;

/** A path in the commit: relative, no `..`, no backslash, no control character. */
export const ConfigPath = z
  .string()
  .min(1)
  .max(400)
  .regex(/^[^\p{Cc}\\]+$/u, "must not have control characters or \\")
  .refine((path) => !path.startsWith("/") && !path.startsWith("-"), "must be relative to the repository's root")
  .refine(
    (path) => !path.split("/").some((part) => part === "" || part === "." || part === ".." || part === ".git"),
    "must not have empty, . , .. or .git parts",
  );

/** Characters of YAML that an inline definition may have. */
export const DEFINITION_LIMIT = 256 * 1024;

export const Definition = z.string().min(1).max(DEFINITION_LIMIT, "must have at most 262144 characters");

export const Pipeline = z.object({
  id: Id,
  orgId: OrgId,
  repoId: Id,
  name: Name,
  configPath: z.string(),
  definition: z.string().nullable(),
  groupIds: z.array(Id),
  requires: Requires,
  timeoutSeconds: z.int(),
  maxParallel: z.int().nullable(),
  maxAttempts: z.int(),
  isActive: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Pipeline = z.infer<typeof Pipeline>;

const GroupIds = z
  .array(Id)
  .max(100, "must have at most 100 groups")
  .refine((ids) => new Set(ids).size === ids.length, "must not name a group twice");
const TimeoutSeconds = z.int().min(1, "must be at least 1").max(86_400, "must be at most 86400");
const MaxParallel = z.int().min(1, "must be at least 1").max(10_000, "must be at most 10000");
const MaxAttempts = z.int().min(1, "must be 1 to 3").max(3, "must be 1 to 3");

export const NewPipeline = z.strictObject({
  orgId: OrgId.nullish(),
  repoId: Id,
  name: Name,
  configPath: ConfigPath.nullish(),
  definition: Definition.nullish(),
  groupIds: GroupIds.nullish(),
  requires: Requires.nullish(),
  timeoutSeconds: TimeoutSeconds.nullish(),
  maxParallel: MaxParallel.nullish(),
  maxAttempts: MaxAttempts.nullish(),
  isActive: z.boolean().nullish(),
});

export const PipelineChange = z.strictObject({
  name: Name.optional(),
  configPath: ConfigPath.optional(),
  definition: Definition.nullable().optional(),
  groupIds: GroupIds.optional(),
  requires: Requires.optional(),
  timeoutSeconds: TimeoutSeconds.optional(),
  maxParallel: MaxParallel.nullable().optional(),
  maxAttempts: MaxAttempts.optional(),
  isActive: z.boolean().optional(),
});

export const PipelineFilter = z.strictObject({ repoId: Id.optional(), ...PAGE });

/** Where the value of a key comes from: a stored scope, or the run itself. */
export const Origin = z.enum([...SCOPES, "run", "service"]);
export type Origin = z.infer<typeof Origin>;

/** One key of a composed environment, without a secret's value. */
export const EnvironmentEntry = z.object({
  key: z.string(),
  scope: Origin,
  isSecret: z.boolean(),
  value: z.string().optional(),
  variableId: Id.nullable(),
  groupId: Id.nullable(),
  version: z.int().nullable(),
  overrides: z.array(z.object({ scope: Origin, groupId: Id.nullable(), variableId: Id.nullable() })),
});

/** A pipeline file to be checked; with a pipeline or repository, also against the variables it would be given. */
export const PipelineCheck = z.strictObject({
  definition: z.string().max(DEFINITION_LIMIT, "must have at most 262144 characters"),
  repoId: Id.nullish(),
  pipelineId: Id.nullish(),
});

/** Every mistake at once, each where it stands; lines and columns count from 1. */
export const CheckedPipeline = z.object({
  isValid: z.boolean(),
  mistakes: z.array(
    z.object({ line: z.int(), column: z.int(), message: z.string(), suggestion: z.string().optional() }),
  ),
});
