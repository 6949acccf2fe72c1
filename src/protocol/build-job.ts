import * as z from "zod/mini";
import { BUILD_STATES, BuildReason } from "./build-states.ts";
import { atMost } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { CommitSha } from "./repository.ts";
import { TestSummary } from "./test-report.ts";
import { Role } from "./token.ts";

/** A planned job is `waiting` until its needs end and its gate opens. A first job begins as `queued`. */
export const JobStatus = z.enum([
  "waiting",
  ...(Object.keys(BUILD_STATES) as (keyof typeof BUILD_STATES)[]),
  "skipped",
  "dropped",
]);
export type JobStatus = z.infer<typeof JobStatus>;

const Matrix = z.record(z.string(), z.union([z.string(), z.boolean()]));

/** The reason why a job did not run, or was stopped. `job` is the key of the job that caused this. */
export const Cause = z.object({
  kind: z.enum(["condition", "need-skipped", "need-failed", "need-canceled", "fail-fast", "canceled", "gate"]),
  job: z.nullable(z.string()),
  text: z.nullable(z.string()),
});

/** A person's decision on a gate. `by` is the person's name. */
export const GateDecision = z.object({
  approved: z.boolean(),
  at: Timestamp,
  by: z.string(),
  comment: z.nullable(z.string()),
});

/** A gate's question, and who may answer it. `decision` appears once somebody has answered. */
export const JobGate = z.object({
  message: z.nullable(z.string()),
  by: Role,
  /** Variable groups that require the same decision. */
  groups: z.array(z.string()),
  since: z.nullable(Timestamp),
  until: z.nullable(Timestamp),
  decision: z.nullable(GateDecision),
});
export type JobGate = z.infer<typeof JobGate>;

/** One job in the list of its build. */
export const JobOfBuild = z.object({
  id: Id,
  key: z.string(),
  definition: z.string(),
  name: z.string(),
  matrix: z.nullable(Matrix),
  needs: z.array(z.string()),
  /** The job's depth: 0 for a job without needs, otherwise one more than the deepest of its needs. */
  depth: z.int(),
  status: JobStatus,
  mayFail: z.boolean(),
  cause: z.nullable(Cause),
  gate: z.nullable(JobGate),
  agentId: z.nullable(Id),
  attempt: z.int(),
  /** The number of failed tries that another try followed. Absent if the file allows only one try. */
  retries: z.optional(z.int()),
  exitCode: z.nullable(z.int()),
  reason: z.nullable(BuildReason),
  message: z.nullable(z.string()),
  queuedAt: z.nullable(Timestamp),
  startedAt: z.nullable(Timestamp),
  finishedAt: z.nullable(Timestamp),
  /** The build whose result this job adopted. */
  adoptedFrom: z.nullable(Id),
  tests: z._default(z.nullable(TestSummary), null),
});
export type JobOfBuild = z.infer<typeof JobOfBuild>;

/** A gate that blocks a build. */
export const WaitsFor = z.object({ jobId: Id, key: z.string(), gate: JobGate });
export type WaitsFor = z.infer<typeof WaitsFor>;

/** A decision on a gate. */
export const GateAnswer = z.strictObject({
  comment: z.nullish(z.string().check(atMost(LIMITS.gateCommentCharacters))),
  commitSha: z.nullish(CommitSha),
});
