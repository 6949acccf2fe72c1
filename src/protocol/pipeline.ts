import * as z from "zod/mini";
import { atMost, atMostItems, intBetween, notEmpty, visible, withoutNul } from "./checks.ts";
import { Id, Labels, Name, NameFilter, OrgId, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { PAGE } from "./page.ts";
import { Role } from "./token.ts";
import { FileEncoding, SCOPES } from "./variable.ts";
import { XcodeVersion } from "./xcodes.ts";

export const PLATFORM_NAMES = ["other", "macos", "linux", "windows"] as const;

/** The names of platforms in texts for people. */
export const PLATFORM_TITLES = { other: "other", macos: "macOS", linux: "Linux", windows: "Windows" } as const;

/** The requirements of a build for its agent. A field that is omitted requires nothing. */
export const Requires = z.strictObject({
  platform: z.nullish(z.enum(["macos", "linux", "windows"])),
  ios: z.nullish(z.boolean()),
  android: z.nullish(z.boolean()),
  web: z.nullish(z.boolean()),
  labels: z.nullish(Labels),
  xcode: z.nullish(XcodeVersion),
});
export type Requires = z.infer<typeof Requires>;

/** A relative path in the commit, without `..`, backslashes or control characters. */
export const ConfigPath = z.string().check(
  notEmpty(),
  atMost(LIMITS.configPathCharacters),
  z.regex(/^[^\x00-\x1F\x7F-\x9F\\]+$/, "must not have control characters or \\"),
  visible(),
  z.refine((path) => !path.startsWith("/") && !path.startsWith("-"), "must be relative to the repository's root"),
  z.refine(
    (path) => !path.split("/").some((part) => part === "" || part === "." || part === ".." || part === ".git"),
    "must not have empty, . , .. or .git parts",
  ),
);

/** A file that a pipeline file includes, with its text in the commit. */
export const IncludedFile = z.strictObject({ path: ConfigPath, text: z.string() });

/** Included files, in which no path occurs twice. */
export const IncludedFiles = z.array(IncludedFile).check(
  atMostItems(LIMITS.includes, "files"),
  z.refine((files) => new Set(files.map(({ path }) => path)).size === files.length, "must not have duplicate paths"),
);

export const Definition = z.string().check(notEmpty(), atMost(LIMITS.definitionCharacters));

const Patterns = z.optional(z.array(z.string().check(withoutNul())));
const event = <Conditions extends z.ZodMiniObject>(conditions: Conditions) =>
  z.optional(z.union([z.literal(true), conditions], "must be true, or an object with conditions"));

export const PushConditions = z.strictObject({ branches: Patterns, paths: Patterns });
export const TagConditions = z.strictObject({ names: Patterns });
export const PullConditions = z.strictObject({
  base: Patterns,
  paths: Patterns,
  drafts: z.optional(z.boolean()),
  labels: Patterns,
});

/** The events that trigger a pipeline, in the words of a file's `on`. An omitted event does not trigger it. */
export const PipelineOn = z.strictObject({
  push: event(PushConditions),
  tag: event(TagConditions),
  pull: event(PullConditions),
  "merge-group": z.optional(z.literal(true)),
});
export type PipelineOn = z.infer<typeof PipelineOn>;

/**
 * The refs on which a newer head cancels older builds. Either the file decides, or the value is one of the file's
 * words.
 */
const Supersede = z.enum(["file", "refs", "all", "none"]);

/** The triggers of a pipeline, and the part of its file that they come from. */
export const PipelineTriggers = z.object({
  source: z.enum(["record", "file", "default"]),
  builds: z.string(),
  supersede: z.enum(["refs", "all", "none"]),
  commitSha: z.nullable(z.string()),
  readAt: z.nullable(Timestamp),
  mistake: z.nullable(z.string()),
});
export type PipelineTriggers = z.infer<typeof PipelineTriggers>;

export const Pipeline = z.object({
  id: Id,
  orgId: OrgId,
  repoId: Id,
  name: Name,
  configPath: z.string(),
  definition: z.nullable(z.string()),
  groupIds: z.array(Id),
  requires: Requires,
  timeoutSeconds: z.int(),
  maxParallel: z.nullable(z.int()),
  maxAttempts: z.int(),
  on: z.nullable(PipelineOn),
  supersede: Supersede,
  triggers: PipelineTriggers,
  isActive: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Pipeline = z.infer<typeof Pipeline>;

/** Defaults for a new pipeline, and for a build without a pipeline. */
export const PIPELINE_DEFAULTS = {
  configPath: ".millrace.yml",
  definition: null,
  timeoutSeconds: 3600,
  maxParallel: null,
  maxAttempts: 2,
} as const;

const GroupIds = z.array(Id).check(
  atMostItems(LIMITS.groups, "groups"),
  z.refine((ids) => new Set(ids).size === ids.length, "must not have duplicate groups"),
);
const TimeoutSeconds = intBetween(1, LIMITS.timeoutSeconds);
const MaxParallel = intBetween(1, LIMITS.parallelBuilds);
const MaxAttempts = intBetween(1, LIMITS.attempts);

export const NewPipeline = z.strictObject({
  orgId: z.nullish(OrgId),
  repoId: Id,
  name: Name,
  configPath: z.nullish(ConfigPath),
  definition: z.nullish(Definition),
  groupIds: z.nullish(GroupIds),
  requires: z.nullish(Requires),
  timeoutSeconds: z.nullish(TimeoutSeconds),
  maxParallel: z.nullish(MaxParallel),
  maxAttempts: z.nullish(MaxAttempts),
  on: z.nullish(PipelineOn),
  supersede: z.nullish(Supersede),
  isActive: z.nullish(z.boolean()),
});

export const PipelineChange = z.strictObject({
  name: z.optional(Name),
  configPath: z.optional(ConfigPath),
  definition: z.optional(z.nullable(Definition)),
  groupIds: z.optional(GroupIds),
  requires: z.optional(Requires),
  timeoutSeconds: z.optional(TimeoutSeconds),
  maxParallel: z.optional(z.nullable(MaxParallel)),
  maxAttempts: z.optional(MaxAttempts),
  on: z.optional(z.nullable(PipelineOn)),
  supersede: z.optional(Supersede),
  isActive: z.optional(z.boolean()),
});

export const PipelineFilter = z.strictObject({ repoId: z.optional(Id), name: z.optional(NameFilter), ...PAGE });

/** The origin of a key's value: a stored scope, the run, or the service itself. */
export const Origin = z.enum([...SCOPES, "run", "service"]);
export type Origin = z.infer<typeof Origin>;

/** One key of a composed environment. A secret has no `value`. */
export const EnvironmentEntry = z.object({
  key: z.string(),
  scope: Origin,
  isSecret: z.boolean(),
  value: z.optional(z.string()),
  isFile: z.optional(z.boolean()),
  fileEncoding: z.optional(FileEncoding),
  fileName: z.optional(z.string()),
  variableId: z.nullable(Id),
  groupId: z.nullable(Id),
  version: z.nullable(z.int()),
  overrides: z.array(z.object({ scope: Origin, groupId: z.nullable(Id), variableId: z.nullable(Id) })),
});

/**
 * A pipeline file to check. If the request names a pipeline or repository, the service also checks the file against the
 * variables that its builds would get.
 */
export const PipelineCheck = z.strictObject({
  definition: z.string().check(atMost(LIMITS.definitionCharacters)),
  repoId: z.nullish(Id),
  pipelineId: z.nullish(Id),
  includes: z.optional(IncludedFiles),
});

/** When a file triggers builds, in words, and the next times of its schedules. */
export const CheckedTriggers = z.object({
  builds: z.string(),
  supersede: z.enum(["refs", "all", "none"]),
  schedules: z.array(z.object({ name: z.string(), next: z.array(Timestamp) })),
});

/**
 * A job that a build of the file would have. `agents` counts the registered agents that meet the job's requirements.
 */
export const CheckedJob = z.object({
  key: z.string(),
  definition: z.string(),
  name: z.string(),
  matrix: z.nullable(z.record(z.string(), z.union([z.string(), z.boolean()]))),
  needs: z.array(z.string()),
  requires: Requires,
  gate: z.nullable(Role),
  groups: z.array(z.string()),
  withheld: z.array(z.string()),
  agents: z.int(),
});

/**
 * The result of a check, with all mistakes at once. Lines and columns count from 1. A file with only `hints` is valid.
 */
export const CheckedPipeline = z.object({
  isValid: z.boolean(),
  mistakes: z.array(
    z.object({
      line: z.int(),
      column: z.int(),
      message: z.string(),
      suggestion: z.optional(z.string()),
      file: z.optional(z.string()),
    }),
  ),
  hints: z.array(z.object({ line: z.int(), column: z.int(), message: z.string(), file: z.optional(z.string()) })),
  triggers: z.nullable(CheckedTriggers),
  jobs: z.nullable(z.array(CheckedJob)),
});

/** The address of a pipeline's badge, and the Markdown that shows it. */
export const Badge = z.object({ url: z.string(), markdown: z.string() });
