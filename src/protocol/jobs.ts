import * as z from "zod/mini";
import { Build, BuildReason, Step } from "./build.ts";
import { ENDED } from "./build-states.ts";
import { atMost, atMostItems, queryNumber, wholeNumber } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { Requires } from "./pipeline.ts";
import { CommitSha, CREDENTIAL_KINDS } from "./repository.ts";

/*
 * THE AGENT'S STORY. It registers once (`protocol/agent.ts`) and then, for ever:
 *   GET  /buildagent/{id}/poll?wait=50     204, or 200 with a Job. A job names its lease.
 *   POST /build/{id}/start                 only this confirms that the job arrived; refused: drop it.
 *   POST /buildagent/{id}/heartbeat        every heartbeatSeconds with the lease, which it extends.
 *   POST /build/{id}/progress              what it found out: commit, steps, values to mask.
 *   PUT  /build/{id}/log?offset=N          the log, masked; `next` is what is safely stored.
 *   POST /build/{id}/finish                the result; or /release: the job is for another agent, or (`elsewhere`)
 *                                          another might fetch it, or (`interrupted`) this one is to end now.
 * Each call about a build carries `X-Lease: N`. A stale lease gets 409 and changes nothing.
 */

/** Header that carries the lease of the build an agent speaks about. */
export const LEASE_HEADER = "X-Lease";

/** Header with a random id an agent program makes at its start: another one means that it was restarted. */
export const BOOT_HEADER = "X-Boot-Id";

/** A whole number that only grows. */
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

/** What an agent needs for one build. `env` has the composed values; those of `secretKeys` are to be masked. */
export const Job = z.object({
  build: Build,
  lease: Lease,
  leaseExpiresAt: Timestamp,
  repository: z.object({ fullName: z.string(), cloneUrl: z.string(), credential: z.nullish(JobCredential) }),
  pipeline: z.object({ name: z.string(), configPath: z.string(), definition: z.nullable(z.string()) }),
  env: z.record(z.string(), z.string()),
  secretKeys: z.array(z.string()),
  runKeys: z.array(z.string()),
  requires: Requires,
  timeoutSeconds: z.int(),
  mayGoElsewhere: z.optional(z.boolean()),
});
export type Job = z.infer<typeof Job>;

/** `cancel` asks the agent to stop the build; with reason lease-lost it is no longer its own at all. */
export const Heartbeat = z.object({
  cancel: z.boolean(),
  leaseExpiresAt: z.optional(Timestamp),
  reason: z.optional(z.enum(["canceled", "timeout", "lease-lost"])),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

export const Progress = z.object({
  commitSha: z.optional(CommitSha),
  steps: z.optional(z.array(Step).check(atMostItems(LIMITS.reportedSteps, "steps"))),
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
  exitCode: z.nullish(wholeNumber(0, LIMITS.exitCode)),
  reason: z.nullish(BuildReason),
  message: z.nullish(z.string().check(atMost(LIMITS.messageCharacters))),
});
export type Finish = z.infer<typeof Finish>;

export const LogQuery = z.object({
  offset: queryNumber(0, Number.MAX_SAFE_INTEGER),
  final: z.optional(z.enum(["true", "false"])),
});

/** Bytes sent under this lease that are stored for good: send from here on. */
export const LogAccepted = z.object({ next: z.int() });

/** A message pushed to a waiting agent: a reason to look, never the thing itself. */
export const Hint = z.object({ type: z.enum(["look", "cancel"]), buildId: z.optional(Id) });
export type Hint = z.infer<typeof Hint>;

/** Texts by which the two ends of the hints' socket know of each other; answered without waking the service. */
export const HINT_PING = "ping";
export const HINT_PONG = "pong";
