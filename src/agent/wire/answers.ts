import * as z from "zod/mini";
import { Agent, RegisteredAgent } from "../../protocol/agent.ts";
import { Build } from "../../protocol/build.ts";
import { Heartbeat, Hint, Job, JobCredential, HeartbeatReply as Reply } from "../../protocol/jobs.ts";
import { Problem } from "../../protocol/problem.ts";

/*
 * What the agent reads from the service's answers: only the fields that it uses, so that an answer of a newer service
 * stays readable. Each schema is picked from the protocol's own.
 */

/** An enum that may grow: a value that this agent does not know is read as "other". */
const openEnum = <T extends z.core.util.EnumLike>(known: z.ZodMiniEnum<T>) =>
  z.union([
    known,
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
  commitSha: true,
  attempt: true,
  message: true,
} as const;

export const JobAnswer = z.extend(
  z.pick(Job, { lease: true, pipeline: true, env: true, secretKeys: true, timeoutSeconds: true }),
  {
    // Any trigger is allowed: the pipeline file's expressions use it as a text.
    build: z.extend(z.pick(Build, buildFields), { trigger: z.string() }),
    repository: z.extend(Job.shape.repository, {
      credential: z.nullish(z.extend(JobCredential, { kind: openEnum(JobCredential.shape.kind) })),
    }),
    runKeys: z._default(Job.shape.runKeys, []),
    mayGoElsewhere: Job.shape.mayGoElsewhere,
    heartbeat: z.optional(openEnum(Job.shape.heartbeat.def.innerType)),
  },
);
export type JobAnswer = z.infer<typeof JobAnswer>;

export const HeartbeatAnswer = z.extend(z.pick(Heartbeat, { cancel: true }), {
  reason: z.optional(openEnum(Heartbeat.shape.reason.def.innerType)),
});
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>;

export const HeartbeatReply = z.extend(z.pick(Reply, { type: true, lease: true }), HeartbeatAnswer.shape);
export type HeartbeatReply = z.infer<typeof HeartbeatReply>;

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

/** The service has less of the log than the agent assumed: send it again from `expectedOffset`. */
export const LogGapAnswer = z.pick(Problem, { expectedOffset: true });
