import * as z from "zod/mini";
import { JobGate, JobOfBuild, WaitsFor } from "./build-job.ts";
import { BuildReason, BuildStatus } from "./build-states.ts";
import { atMost, atMostItems, intBetween, queryNumber, withoutNul } from "./checks.ts";
import { Id, Labels, OrgId, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { BUILDS_PAGE } from "./page.ts";
import { Origin } from "./pipeline.ts";
import { Branch, CommitSha } from "./repository.ts";
import { TestSummary } from "./test-report.ts";
import { Key } from "./variable.ts";

export { BuildReason } from "./build-states.ts";

export const StepStatus = z.enum(["pending", "running", "succeeded", "failed", "skipped", "canceled"]);

/**
 * One step as its agent reported it. `logOffset` is the byte of the stored log at which the step's output begins.
 * `tries` is how often the step started, if more than once.
 */
export const Step = z.object({
  id: z.nullable(z.string()),
  name: z.string(),
  status: StepStatus,
  exitCode: z.nullable(z.int()),
  startedAt: z.nullable(Timestamp),
  finishedAt: z.nullable(Timestamp),
  logOffset: z.nullable(z.int()),
  tries: z.optional(z.int().check(z.minimum(1))),
});
export type Step = z.infer<typeof Step>;

/** A key of the build's environment, with the scope of its value and the version of the variable. */
export const EnvironmentKey = z.object({
  key: z.string(),
  scope: Origin,
  isSecret: z.boolean(),
  version: z.nullable(z.int()),
  isFile: z.optional(z.boolean()),
});
export type EnvironmentKey = z.infer<typeof EnvironmentKey>;

/** The person or token that triggered a build, under the name that they had at the time. */
export const Creator = z.object({ kind: z.string(), id: Id, name: z.string() });
export type Creator = z.infer<typeof Creator>;

/** The trigger of a build: a request, or an event at the git host. */
export const BuildEvent = z.enum(["api", "push", "tag", "pull", "merge-group", "schedule"]);
export type BuildEvent = z.infer<typeof BuildEvent>;

/** The pull request of a build. Lists of ended builds contain only its number and its branch. */
export const PullRequest = z.object({
  number: z.int(),
  base: z.nullable(z.string()),
  branch: z.string(),
  title: z.nullable(z.string()),
  author: z.nullable(z.string()),
});
export type PullRequest = z.infer<typeof PullRequest>;

const Trigger = z.enum(["api", "retry"]);

/**
 * The trust in a build's code. `untrusted` code is from a fork, or from an author on a maintainer's list. Its build
 * gets no secrets.
 */
const Trust = z.enum(["trusted", "untrusted"]);
export type Trust = z.infer<typeof Trust>;

/** The number of a build's planned jobs in each state. `stopped` means canceled, skipped or dropped. */
export const JobCounts = z.object({
  total: z.int(),
  waiting: z.int(),
  running: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  stopped: z.int(),
});
export type JobCounts = z.infer<typeof JobCounts>;

/**
 * `jobCounts` counts planned jobs. `failedLine` is the log line that says why the build failed, masked, at most 200
 * characters.
 */
export const Build = z.object({
  id: Id,
  number: z.int(),
  orgId: OrgId,
  repoId: Id,
  pipelineId: z.nullable(Id),
  branch: z.string(),
  ref: z.string(),
  commitSha: z.nullable(z.string()),
  status: BuildStatus,
  event: BuildEvent,
  trigger: Trigger,
  trust: z._default(Trust, "trusted"),
  priority: z.int(),
  agentId: z.nullable(Id),
  attempt: z.int(),
  exitCode: z.nullable(z.int()),
  reason: z.nullable(BuildReason),
  message: z.nullable(z.string()),
  leak: z.boolean(),
  environment: z.nullable(z.array(EnvironmentKey)),
  steps: z.array(Step),
  summary: z.nullable(z.string()),
  retryOf: z.nullable(Id),
  createdBy: z._default(z.nullable(Creator), null),
  tag: z._default(z.nullable(z.string()), null),
  pull: z._default(z.nullable(PullRequest), null),
  base: z._default(z.nullable(z.string()), null),
  subject: z._default(z.nullable(z.string()), null),
  author: z._default(z.nullable(z.string()), null),
  schedule: z._default(z.nullable(z.string()), null),
  supersededBy: z._default(z.nullable(Id), null),
  jobs: z._default(z.nullable(z.array(JobOfBuild)), null),
  approval: z._default(z.nullable(JobGate), null),
  waitsFor: z._default(z.array(WaitsFor), []),
  jobCounts: z._default(z.nullable(JobCounts), null),
  failedLine: z._default(z.nullable(z.string()), null),
  tests: z._default(z.nullable(TestSummary), null),
  webUrl: z.optional(z.string()),
  queuedAt: Timestamp,
  startedAt: z.nullable(Timestamp),
  finishedAt: z.nullable(Timestamp),
});
export type Build = z.infer<typeof Build>;

/** A build that an earlier release stored. It may lack fields that have a default. */
type EarlierBuild = z.input<typeof Build>;

const DEFAULTS = Object.entries(z.partial(Build).parse({})) as [keyof Build, never][];

/** Adds fields that are newer than the release that stored the build. The other fields keep their order. */
export const withDefaults = <B extends EarlierBuild>(build: B): B & Build => {
  const complete = { ...build } as B & Build;
  for (const [field, value] of DEFAULTS) complete[field] ??= value;
  return complete;
};

/** The place from which the pool gets a field's value. */
type Source = "request" | "facts" | "report" | "answer";

/**
 * The fields of a build, in the order in which pools answer them. `of` names the source of the value: `request` for the
 * request that creates the build, and later the build's facts; `facts` for the build's facts; `report` for its agents;
 * `answer` for a value that the pool computes for the answer. D1 gets a build's row when the build is created.
 * `changes` means that D1 gets the field again when the build ends.
 */
export const BUILD_FIELDS = {
  id: { of: "request" },
  number: { of: "facts" },
  orgId: { of: "answer" },
  repoId: { of: "request" },
  pipelineId: { of: "request" },
  branch: { of: "request" },
  ref: { of: "answer" },
  tag: { of: "answer" },
  commitSha: { of: "request", changes: true },
  status: { of: "facts", changes: true },
  event: { of: "answer", changes: true },
  trigger: { of: "request" },
  trust: { of: "answer" },
  priority: { of: "request" },
  agentId: { of: "answer", changes: true },
  attempt: { of: "answer", changes: true },
  exitCode: { of: "facts", changes: true },
  reason: { of: "facts", changes: true },
  message: { of: "answer", changes: true },
  failedLine: { of: "report", changes: true },
  jobCounts: { of: "answer", changes: true },
  leak: { of: "facts", changes: true },
  environment: { of: "report" },
  steps: { of: "report" },
  summary: { of: "report" },
  retryOf: { of: "request" },
  createdBy: { of: "request" },
  pull: { of: "answer", changes: true },
  base: { of: "facts" },
  subject: { of: "answer" },
  author: { of: "answer" },
  schedule: { of: "answer" },
  supersededBy: { of: "facts" },
  jobs: { of: "answer" },
  approval: { of: "answer" },
  waitsFor: { of: "answer" },
  tests: { of: "answer", changes: true },
  queuedAt: { of: "answer" },
  startedAt: { of: "answer", changes: true },
  finishedAt: { of: "answer", changes: true },
} as const satisfies Record<Exclude<keyof Build, "webUrl">, { of: Source; changes?: true }>;

type Fields = typeof BUILD_FIELDS;
type FieldOf<S extends Source> = { [F in keyof Fields]: Fields[F]["of"] extends S ? F : never }[keyof Fields];

/** The fields of a build from these sources. */
export type BuildPart<S extends Source> = Pick<EarlierBuild, FieldOf<S>>;

const NAMES = Object.keys(BUILD_FIELDS) as (keyof Fields)[];

export const buildPart = <S extends Source>(source: S, part: BuildPart<S>): BuildPart<S> => {
  const names = NAMES.filter((name) => BUILD_FIELDS[name].of === source) as FieldOf<S>[];
  return Object.fromEntries(names.map((name) => [name, part[name]])) as BuildPart<S>;
};

/** Returns the build with only the fields of a build, in their order. */
export const toRecord = (build: EarlierBuild): Build => {
  const whole = withDefaults(build);
  return Object.fromEntries(NAMES.map((name) => [name, whole[name]])) as Build;
};

/** Values for this run only, by name. Numbers and booleans become text. */
export const EnvVariables = z.record(
  Key,
  z.pipe(
    z.union([z.string().check(withoutNul()), z.number(), z.boolean()], "must be text, a number or a boolean"),
    z.transform(String),
  ),
);

export const RepositoryTrigger = z.strictObject({ branch: z.nullish(Branch), commitSha: z.nullish(CommitSha) });

export const BuildTrigger = z.strictObject({
  repoId: z.nullish(Id),
  pipelineId: z.nullish(Id),
  branch: z.nullish(Branch),
  commitSha: z.nullish(CommitSha),
  envVariables: z.nullish(EnvVariables),
  secretKeys: z.nullish(z.array(Key).check(atMostItems(LIMITS.secretKeys, "keys"))),
  priority: z.nullish(intBetween(-LIMITS.priority, LIMITS.priority)),
  labels: z.nullish(Labels),
});
export type BuildTrigger = z.infer<typeof BuildTrigger>;

/**
 * The options for a retry. `failed` reruns the jobs that did not succeed, and all jobs that depend on them. The other
 * jobs keep their results.
 */
export const BuildRetry = z.strictObject({ only: z.nullish(z.enum(["failed"])) });

/** A full commit hash, or its beginning. */
const CommitPrefix = z.pipe(
  z
    .string()
    .check(z.regex(/^[0-9a-fA-F]{7,64}$/, "must be a commit hash, or at least its first 7 hex digits, at most 64")),
  z.transform((sha) => sha.toLowerCase()),
);

export const BuildFilter = z.strictObject({
  repoId: z.optional(Id),
  pipelineId: z.optional(Id),
  branch: z.optional(z.string().check(atMost(LIMITS.branchCharacters))),
  ref: z.optional(z.string().check(atMost(LIMITS.branchCharacters))),
  refName: z.optional(z.string().check(atMost(LIMITS.branchCharacters))),
  commitSha: z.optional(CommitPrefix),
  status: z.optional(BuildStatus),
  event: z.optional(BuildEvent),
  trigger: z.optional(Trigger),
  agentId: z.optional(Id),
  author: z.optional(z.string().check(atMost(LIMITS.nameCharacters))),
  pull: z.optional(queryNumber(1, Number.MAX_SAFE_INTEGER)),
  since: z.optional(z.iso.datetime({ offset: true })),
  until: z.optional(z.iso.datetime({ offset: true })),
  ...BUILDS_PAGE,
});
