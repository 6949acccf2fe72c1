import * as z from "zod/mini";
import { Build, BuildReason, Step } from "./build.ts";
import { ENDED } from "./build-states.ts";
import { atMost, atMostItems, intBetween, queryNumber } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { ConfigPath, IncludedFiles, Requires } from "./pipeline.ts";
import { CommitSha, CREDENTIAL_KINDS } from "./repository.ts";
import { HandedFile } from "./variable.ts";

/*
 * THE AGENT'S CALLS. An agent registers once (`protocol/agent.ts`) and then repeats:
 *   GET  /buildagent/{id}/poll?wait=50     204, or 200 with a Job. A job names its lease.
 *   POST /build/{id}/start                 confirms that the job arrived. If the service rejects it, drop the job.
 *   POST /buildagent/{id}/heartbeat        every heartbeatSeconds, extends the lease. If the job has `heartbeat: "socket"`,
 *                                          also as a message on the agent's WebSocket.
 *   POST /build/{id}/environment           the variables, if the job has `needsEnvironment`; after reading the file.
 *   PUT  /build/{id}/plan                  instead, a file with jobs. This ends the lease; polls return the jobs.
 *   POST /build/{id}/progress              the commit, the steps, values to mask.
 *   PUT  /build/{id}/file                  the pipeline file, if the job has `file` and the service lacks this version.
 *   PUT  /build/{id}/log?offset=N          the masked log; `next` is the first byte that is not stored yet.
 *   POST /build/{id}/finish                the result. Or /release: this agent lacks a requirement, cannot fetch a
 *                                          commit that another may (`elsewhere`), or must stop now (`interrupted`).
 *   PUT  /job/{id}/tests                   before /finish, the job's test results (`protocol/test-report.ts`).
 * If the answer has a `job`, use its id in these calls; `/job/{id}/...` is the same.
 * Each call about a build has `X-Lease: N`. A stale lease gets a 409 and changes nothing.
 */

/** The lease of the build that an agent's call concerns. */
export const LEASE_HEADER = "X-Lease";

/** A random id that an agent creates when it starts. A new id means a restart. */
export const BOOT_HEADER = "X-Boot-Id";

/** The agent's features beyond the first protocol, as words separated by commas. */
export const FEATURES_HEADER = "X-Agent-Features";
/**
 * The features of agents. `environment`: the agent requests a build's variables after reading its file. `jobs`: it
 * sends files with jobs, and runs planned jobs. `retry`: it retries steps as the file says. `include`: it reads the
 * files that the pipeline file includes. `files`: it writes variables of type file. `tools`: it sets up tools.
 * `artifacts`: it uploads and downloads artifacts. `cache`: it saves and restores entries. `untrusted`: it runs code of
 * forks, which gets no secrets.
 */
export const FEATURES = [
  "environment",
  "jobs",
  "retry",
  "include",
  "files",
  "tools",
  "artifacts",
  "cache",
  "untrusted",
] as const;
export type Feature = (typeof FEATURES)[number];

/** Returns the header's features that this release knows, in the order of `FEATURES`. */
export const featuresIn = (header: string | null): Feature[] => {
  const said = (header ?? "").split(",").map((word) => word.trim());
  return FEATURES.filter((feature) => said.includes(feature));
};

/** The fence of a lease. Each new lease of an organization has a higher number. */
export const Lease = z.int().check(z.nonnegative());

export const PollQuery = z.object({
  wait: z._default(queryNumber(0, LIMITS.pollSeconds), 0),
});

/**
 * The credential with which git clones a private repository, in plain text. The credential is only for one job's fetch.
 */
export const JobCredential = z.object({
  kind: z.enum(CREDENTIAL_KINDS),
  username: z.nullable(z.string()),
  value: z.string(),
});
export type JobCredential = z.infer<typeof JobCredential>;

/** The base of a change: the branch that a pull request left, or a commit. */
const JobBase = z.union([z.object({ branch: z.string() }), z.object({ sha: z.string() })]);

/**
 * The result of a needed job, as conditions and steps read it. `jobs` has one entry for each combination of the job's
 * matrix.
 */
const NeedResult = z.enum(["success", "failure", "cancelled", "skipped", "dropped"]);
const NeededJob = z.object({
  result: NeedResult,
  outcome: NeedResult,
  outputs: z.nullable(z.record(z.string(), z.string())),
  jobs: z.array(
    z.object({
      matrix: z.nullable(z.record(z.string(), z.union([z.string(), z.boolean()]))),
      result: NeedResult,
      outcome: NeedResult,
      outputs: z.record(z.string(), z.string()),
    }),
  ),
});
/** The needed jobs by the keys of the file's jobs. `outputs` is null if a matrix has several jobs: read `jobs`. */
export const Needs = z.record(z.string(), NeededJob);
export type Needs = z.infer<typeof Needs>;

/** The planned job for the agent, and the SHA-256 that the commit's file must have. */
export const JobToRun = z.object({
  id: Id,
  key: z.string(),
  definition: z.string(),
  name: z.string(),
  matrix: z.nullable(z.record(z.string(), z.union([z.string(), z.boolean()]))),
  attempt: z.int(),
  needs: Needs,
  hash: z.string(),
  /** The file's path in the commit. It is null for a definition in the pipeline's record, which no commit contains. */
  path: z.nullable(z.string()),
});
export type JobToRun = z.infer<typeof JobToRun>;

/** The composed environment. The service hands it out once for each lease, and again for each repeated request. */
export const HandedEnvironment = z.object({
  env: z.record(z.string(), z.string()),
  secretKeys: z.array(z.string()),
  runKeys: z.array(z.string()),
  /** Variables of type file, which `env` does not contain. Absent without such variables. */
  files: z.optional(z.record(z.string(), HandedFile)),
});
export type HandedEnvironment = z.infer<typeof HandedEnvironment>;

/**
 * Everything that an agent needs for one build. `env` has the composed values. The agent masks the values of
 * `secretKeys`. `heartbeat` means that the service also accepts heartbeats on the agent's WebSocket. `file` means that
 * the agent sends the pipeline file, unless the file's SHA-256 is `hash`. With the `purpose` read-file, the agent has
 * nothing else to do, unless `file.decides` and the file's `on` accepts this push. Unless a changed file matches
 * `paths`, the build ends as skipped.
 */
export const Job = z.object({
  build: Build,
  lease: Lease,
  leaseExpiresAt: Timestamp,
  repository: z.object({ fullName: z.string(), cloneUrl: z.string(), credential: z.nullish(JobCredential) }),
  pipeline: z.object({ name: z.string(), configPath: z.string(), definition: z.nullable(z.string()) }),
  ...HandedEnvironment.shape,
  requires: Requires,
  timeoutSeconds: z.int(),
  mayGoElsewhere: z.optional(z.boolean()),
  heartbeat: z.optional(z.enum(["socket"])),
  purpose: z.optional(z.enum(["read-file"])),
  file: z.optional(z.object({ hash: z.nullable(z.string()), decides: z.boolean() })),
  paths: z.optional(z.array(z.string())),
  base: z.optional(JobBase),
  job: z.optional(JobToRun),
  /** The agent must request the environment after reading the file. Until then `env` and the keys are empty. */
  needsEnvironment: z.optional(z.boolean()),
});
export type Job = z.infer<typeof Job>;

/**
 * The answer to a heartbeat. On `cancel` the agent must stop the build. With reason lease-lost the agent no longer
 * holds the build.
 */
export const Heartbeat = z.object({
  cancel: z.boolean(),
  leaseExpiresAt: z.optional(Timestamp),
  reason: z.optional(z.enum(["canceled", "timeout", "lease-lost", "fail-fast", "superseded"])),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** Maximum characters of a message on the agent's WebSocket, and of a boot id. */
const SOCKET_MESSAGE_CHARACTERS = 1_000;
const BOOT_ID_CHARACTERS = 200;

/** A heartbeat on the agent's own WebSocket. `lease` and `boot` replace the headers of the same names. */
const HeartbeatMessage = z.object({
  type: z.literal("heartbeat"),
  lease: Lease,
  boot: z.nullish(z.string().check(atMost(BOOT_ID_CHARACTERS))),
});
export type HeartbeatMessage = z.infer<typeof HeartbeatMessage>;

/** Reads the heartbeat in an agent's message; null if the message is something else. */
export const parseHeartbeat = (message: string | ArrayBuffer): HeartbeatMessage | null => {
  if (typeof message !== "string" || message.length > SOCKET_MESSAGE_CHARACTERS) return null;
  try {
    return HeartbeatMessage.safeParse(JSON.parse(message)).data ?? null;
  } catch {
    return null;
  }
};

/** The answer on the same WebSocket, for the lease that the message named. */
export const HeartbeatReply = z.extend(Heartbeat, { type: z.literal("heartbeat"), lease: Lease });
export type HeartbeatReply = z.infer<typeof HeartbeatReply>;

const ReportedSteps = z.array(Step).check(atMostItems(LIMITS.reportedSteps, "steps"));

export const Progress = z.object({
  commitSha: z.optional(CommitSha),
  base: z.optional(CommitSha),
  steps: z.optional(ReportedSteps),
  masks: z.optional(
    z.array(z.string().check(atMost(LIMITS.maskCharacters))).check(atMostItems(LIMITS.reportedMasks, "masks")),
  ),
  summary: z.optional(z.string().check(atMost(LIMITS.summaryCharacters))),
});
export type Progress = z.infer<typeof Progress>;

export const Release = z.object({
  reason: z.string().check(atMost(LIMITS.releaseReasonCharacters)),
  requires: z.optional(Requires),
  elsewhere: z.optional(z.boolean()),
  interrupted: z.optional(z.boolean()),
});
export type Release = z.infer<typeof Release>;

export const Finish = z.object({
  status: z.enum(ENDED),
  exitCode: z.nullish(intBetween(0, LIMITS.exitCode)),
  reason: z.nullish(BuildReason),
  message: z.nullish(z.string().check(atMost(LIMITS.messageCharacters))),
  /** The outputs of a planned job that succeeded. */
  outputs: z.nullish(z.record(z.string(), z.string())),
});
export type Finish = z.infer<typeof Finish>;

/** A file with jobs, as the agent read it in the commit, and its patterns that match a changed file. */
export const PlanToAccept = z.strictObject({
  commitSha: CommitSha,
  path: ConfigPath,
  text: z.string(),
  base: z.optional(CommitSha),
  changed: z.optional(z.record(z.string(), z.boolean())),
  includes: z.optional(IncludedFiles),
});
export type PlanToAccept = z.infer<typeof PlanToAccept>;

export const PlanAccepted = z.object({ jobs: z.array(z.object({ id: Id, key: z.string() })) });

/**
 * Requests the environment. The agent meets the requirements of the file, which has no jobs. The request is also the
 * agent's first progress report.
 */
export const EnvironmentRequest = z.strictObject({
  commitSha: CommitSha,
  base: z.optional(CommitSha),
  steps: z.optional(ReportedSteps),
});

export const LogQuery = z.object({
  offset: queryNumber(0, Number.MAX_SAFE_INTEGER),
  final: z.optional(z.enum(["true", "false"])),
});

/**
 * The answer to a chunk of the log. `next` is the number of bytes of this lease that are safely stored, and the agent
 * continues there. `followed` means that somebody follows the log, so the agent sends lines immediately. Otherwise a
 * chunk every half minute is enough.
 */
export const LogAccepted = z.object({ next: z.int(), followed: z.optional(z.boolean()) });

/** A message to a waiting agent. The message never carries a job. The agent polls for the job. */
export const Hint = z.object({
  type: z.enum(["look", "cancel", "followed"]),
  buildId: z.optional(Id),
  /** The id of a planned job. `buildId` then has the same value. */
  jobId: z.optional(Id),
});
export type Hint = z.infer<typeof Hint>;

/** A ping that keeps the hint socket open. The platform answers it without waking the pool. */
export const HINT_PING = "ping";
export const HINT_PONG = "pong";
