import * as z from "zod/mini";
import { Agent, RegisteredAgent } from "../../protocol/agent.ts";
import { Build, PullRequest } from "../../protocol/build.ts";
import {
  HandedEnvironment,
  Heartbeat,
  Hint,
  Job,
  JobCredential,
  JobToRun,
  HeartbeatReply as Reply,
} from "../../protocol/jobs.ts";
import { Problem } from "../../protocol/problem.ts";
import { HandedFile } from "../../protocol/variable.ts";

/*
 * The agent reads only the fields of the service's answers that it uses, so that a newer service's answers stay
 * readable. The agent picks each schema from the protocol's own.
 */

/** Creates an enum that may grow: a value that this agent does not know becomes "other". */
const openEnum = <T extends z.core.util.EnumLike>(knownValues: z.ZodMiniEnum<T>) =>
  z.union([
    knownValues,
    z.pipe(
      z.string(),
      z.transform(() => "other" as const),
    ),
  ]);

const buildFields = {
  id: true,
  number: true,
  repoId: true,
  branch: true,
  ref: true,
  tag: true,
  schedule: true,
  commitSha: true,
  attempt: true,
  message: true,
} as const;

/** Fields that allow any word, because the pipeline file's expressions use them as texts. */
const WORDS = { trigger: z.string(), event: z.string(), trust: z.string() };

/** A needed job's end. The file's expressions compare it as a text, so any word is allowed. */
const RESULT = { result: z.string(), outcome: z.string() };
const NeededJob = z.object({
  ...RESULT,
  outputs: z.nullable(z.record(z.string(), z.string())),
  jobs: z.array(z.object({ matrix: JobToRun.shape.matrix, ...RESULT, outputs: z.record(z.string(), z.string()) })),
});

const Files = z.record(z.string(), z.extend(HandedFile, { encoding: openEnum(HandedFile.shape.encoding) }));

const jobFields = { id: true, key: true, definition: true, name: true, matrix: true, attempt: true } as const;

export const JobAnswer = z.extend(
  z.pick(Job, { lease: true, pipeline: true, env: true, secretKeys: true, timeoutSeconds: true }),
  {
    build: z.extend(z.pick(Build, buildFields), {
      ...WORDS,
      pull: z.nullable(z.pick(PullRequest, { number: true, base: true, branch: true })),
    }),
    repository: z.extend(Job.shape.repository, {
      credential: z.nullish(z.extend(JobCredential, { kind: openEnum(JobCredential.shape.kind) })),
    }),
    runKeys: z._default(Job.shape.runKeys, []),
    mayGoElsewhere: Job.shape.mayGoElsewhere,
    purpose: z.optional(openEnum(Job.shape.purpose.def.innerType)),
    file: Job.shape.file,
    paths: Job.shape.paths,
    base: z.optional(z.object({ branch: z.optional(z.string()), sha: z.optional(z.string()) })),
    heartbeat: z.optional(openEnum(Job.shape.heartbeat.def.innerType)),
    job: z.optional(
      z.extend(z.pick(JobToRun, { ...jobFields, hash: true, path: true }), { needs: z.record(z.string(), NeededJob) }),
    ),
    needsEnvironment: Job.shape.needsEnvironment,
    files: z.optional(Files),
  },
);
export type JobAnswer = z.infer<typeof JobAnswer>;
/** A planned job. */
export type OneOfSeveral = NonNullable<JobAnswer["job"]>;

/**
 * Returns the id for the agent's calls: the planned job's id, or the build's id, which equals the id of the build's
 * first job.
 */
export const heldId = ({ build, job }: JobAnswer): string => job?.id ?? build.id;

/** Returns the number of this attempt. A build's `attempt` counts only the earlier ones. */
export const attemptNumber = ({ build, job }: Pick<JobAnswer, "build" | "job">): number =>
  job?.attempt ?? build.attempt + 1;

/** Returns the values to mask. */
export const secretValues = ({ env, secretKeys, files = {} }: EnvironmentAnswer): string[] =>
  secretKeys.map((key) => (Object.hasOwn(env, key) ? env[key] : Object.hasOwn(files, key) && files[key]?.text) || "");

export const EnvironmentAnswer = z.extend(z.pick(HandedEnvironment, { env: true, secretKeys: true, runKeys: true }), {
  files: z.optional(Files),
});
export type EnvironmentAnswer = z.infer<typeof EnvironmentAnswer>;

export const PlanAnswer = z.object({ jobs: z.array(z.object({ key: z.string() })) });

export const HeartbeatAnswer = z.extend(z.pick(Heartbeat, { cancel: true }), {
  reason: z.optional(openEnum(Heartbeat.shape.reason.def.innerType)),
});
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>;

export const SocketReply = z.extend(z.pick(Reply, { type: true, lease: true }), HeartbeatAnswer.shape);
export type SocketReply = z.infer<typeof SocketReply>;

export const HintMessage = z.object({ type: openEnum(Hint.shape.type) });

export const RegisteredAnswer = z.pick(RegisteredAgent, {
  id: true,
  orgId: true,
  name: true,
  token: true,
  isEphemeral: true,
  labels: true,
  heartbeatSeconds: true,
  pollSeconds: true,
});

export const AgentAnswer = z.extend(
  z.pick(Agent, {
    canBuildIOS: true,
    canBuildAndroid: true,
    canBuildWeb: true,
    lastHeartbeatAt: true,
    labels: true,
    currentBuildId: true,
  }),
  { status: z.int() },
);

/** The service has less of the log than the agent assumed. The agent resends it from `expectedOffset`. */
export const LogGapAnswer = z.pick(Problem, { expectedOffset: true });
