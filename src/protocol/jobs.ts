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
 * THE AGENT'S STORY. It registers once (`protocol/agent.ts`) and then repeats:
 *   GET  /buildagent/{id}/poll?wait=50     204, or 200 with a Job. A job names its lease.
 *   POST /build/{id}/start                 confirms that the job arrived. When it is refused, drop the job.
 *   POST /buildagent/{id}/heartbeat        every heartbeatSeconds, with the lease; extends the lease. Or as a message on
 *                                          the agent's WebSocket, where the job says `heartbeat: "socket"`.
 *   POST /build/{id}/environment           the variables, where the job says `needsEnvironment`: once the file was read.
 *   PUT  /build/{id}/plan                  instead, a file with jobs; the lease is over, and its jobs come with polls.
 *   POST /build/{id}/progress              the commit, the steps, values to mask.
 *   PUT  /build/{id}/file                  the pipeline file, where the job has `file` and it is new to the service.
 *   PUT  /build/{id}/log?offset=N          the log, masked; `next` is the first byte that is not stored yet.
 *   POST /build/{id}/finish                the result. Or /release: this agent does not fit, cannot fetch the commit
 *                                          while another may (`elsewhere`), or has to stop now (`interrupted`).
 *   PUT  /job/{id}/tests                   before it, what the job's test reports say (`protocol/test-report.ts`).
 * With `job` the id in these calls is the job's, and `/job/{id}/...` is the same.
 * Each call about a build carries `X-Lease: N`. A stale lease is answered with 409 and changes nothing.
 */

/** The lease of the build that a call of an agent is about. */
export const LEASE_HEADER = "X-Lease";

/** A random id that an agent program makes when it starts: a new one means a restart. */
export const BOOT_HEADER = "X-Boot-Id";

/** What an agent program can do beyond the first protocol, in words separated by commas. */
export const FEATURES_HEADER = "X-Agent-Features";
/**
 * `environment`: asks for its variables once it has read the file. `jobs`: sends files with jobs, and runs planned jobs.
 * `retry`: runs steps again as the file says. `include`: reads the files that the pipeline file includes. `files`:
 * writes variables of type file. `tools`: sets up tools. `artifacts`: keeps and fetches them. `cache`: saves and restores
 * it. `untrusted`: runs code of forks, which gets no secret.
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

/** The features in the header's value that this release knows, in the order of `FEATURES`. */
export const featuresIn = (header: string | null): Feature[] => {
  const said = (header ?? "").split(",").map((word) => word.trim());
  return FEATURES.filter((feature) => said.includes(feature));
};

/** The fence of a lease: each new lease of an organization has a higher number. */
export const Lease = z.int().check(z.nonnegative());

export const PollQuery = z.object({
  wait: z._default(queryNumber(0, LIMITS.pollSeconds), 0),
});

/** What git needs to clone a private repository, in the clear: for one job's fetch alone. */
export const JobCredential = z.object({
  kind: z.enum(CREDENTIAL_KINDS),
  username: z.nullable(z.string()),
  value: z.string(),
});
export type JobCredential = z.infer<typeof JobCredential>;

/** What changes are counted from: where the branch of a pull request left another one, or a commit. */
const JobBase = z.union([z.object({ branch: z.string() }), z.object({ sha: z.string() })]);

/** How a needed job ended, as conditions and steps read it: `jobs` has one entry for each combination of its matrix. */
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
/** By the keys of the file's jobs. `outputs` is null where a matrix has several: read `jobs`. */
export const Needs = z.record(z.string(), NeededJob);
export type Needs = z.infer<typeof Needs>;

/** The planned job that the agent got, and the SHA-256 of the file that the commit must have. */
export const JobToRun = z.object({
  id: Id,
  key: z.string(),
  definition: z.string(),
  name: z.string(),
  matrix: z.nullable(z.record(z.string(), z.union([z.string(), z.boolean()]))),
  attempt: z.int(),
  needs: Needs,
  hash: z.string(),
  /** Where the file lies in the commit; null for a definition of the pipeline's record, which no commit has. */
  path: z.nullable(z.string()),
});
export type JobToRun = z.infer<typeof JobToRun>;

/** The composed environment, once for each lease and again when it is asked for again. */
export const HandedEnvironment = z.object({
  env: z.record(z.string(), z.string()),
  secretKeys: z.array(z.string()),
  runKeys: z.array(z.string()),
  /** Variables of type file: none of them is in `env`. Absent where there are none. */
  files: z.optional(z.record(z.string(), HandedFile)),
});
export type HandedEnvironment = z.infer<typeof HandedEnvironment>;

/**
 * What an agent needs for one build. `env` has the composed values; those of `secretKeys` must be masked. `heartbeat`:
 * the service takes heartbeats on the agent's WebSocket too. `file`: send the pipeline file, unless its SHA-256 is
 * `hash`. `purpose` read-file: nothing else is to be done, but where `file.decides` and the file's `on` wants this push.
 * `paths`: without a changed file that they match, the build ends as skipped.
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
  /** The environment is still to be asked for, once the file was read: `env` and the keys are empty. */
  needsEnvironment: z.optional(z.boolean()),
});
export type Job = z.infer<typeof Job>;

/** With `cancel` the agent must stop the build. With reason lease-lost it holds the build no longer. */
export const Heartbeat = z.object({
  cancel: z.boolean(),
  leaseExpiresAt: z.optional(Timestamp),
  reason: z.optional(z.enum(["canceled", "timeout", "lease-lost", "fail-fast", "superseded"])),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** Characters of a message on the agent's WebSocket, and of a boot id. */
const SOCKET_MESSAGE_CHARACTERS = 1_000;
const BOOT_ID_CHARACTERS = 200;

/** A heartbeat on the agent's own WebSocket: `lease` and `boot` stand in for the headers of the same names. */
const HeartbeatMessage = z.object({
  type: z.literal("heartbeat"),
  lease: Lease,
  boot: z.nullish(z.string().check(atMost(BOOT_ID_CHARACTERS))),
});
export type HeartbeatMessage = z.infer<typeof HeartbeatMessage>;

/** The heartbeat in a message of an agent; null where it is something else. */
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
  /** Of a planned job that succeeded. */
  outputs: z.nullish(z.record(z.string(), z.string())),
});
export type Finish = z.infer<typeof Finish>;

/** A file with jobs, as the agent read it in the commit; and which of its patterns a change matched. */
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

/** The agent has read the file, which has no jobs, and fits it. This is its first report of progress, too. */
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
 * `next`: bytes of this lease that are stored for good. Continue from here. `followed`: somebody follows the log, so
 * send lines as they come; otherwise a chunk every half minute is enough.
 */
export const LogAccepted = z.object({ next: z.int(), followed: z.optional(z.boolean()) });

/** A message pushed to a waiting agent. It never carries a job: the agent polls for that. */
export const Hint = z.object({
  type: z.enum(["look", "cancel", "followed"]),
  buildId: z.optional(Id),
  /** A planned job: `buildId` has the same id then. */
  jobId: z.optional(Id),
});
export type Hint = z.infer<typeof Hint>;

/** Keep the socket for hints open. The platform answers a ping without waking the pool. */
export const HINT_PING = "ping";
export const HINT_PONG = "pong";
