import * as z from "zod/mini";
import { Agent, RegisteredAgent } from "../protocol/agent.ts";
import { Build } from "../protocol/build.ts";
import { Heartbeat, Hint, Job, JobCredential } from "../protocol/jobs.ts";
import { Problem } from "../protocol/problem.ts";

/*
 * What this agent reads of the service's answers: of the wire's own schemas the fields that it uses, so that nothing
 * else in an answer of a younger service can make it unreadable. A word of an enum that it does not know is "other".
 */

const growing = <T extends z.core.util.EnumLike>(known: z.ZodMiniEnum<T>) =>
  z.union([
    known,
    z.pipe(
      z.string(),
      z.transform(() => "other" as const),
    ),
  ]);

const used = {
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
    // The trigger is a word for the expressions of the pipeline file, whichever it is.
    build: z.extend(z.pick(Build, used), { trigger: z.string() }),
    repository: z.extend(Job.shape.repository, {
      credential: z.nullish(z.extend(JobCredential, { kind: growing(JobCredential.shape.kind) })),
    }),
    runKeys: z._default(Job.shape.runKeys, []),
    mayGoElsewhere: Job.shape.mayGoElsewhere,
  },
);
export type JobAnswer = z.infer<typeof JobAnswer>;

export const HeartbeatAnswer = z.extend(z.pick(Heartbeat, { cancel: true }), {
  reason: z.optional(growing(Heartbeat.shape.reason.def.innerType)),
});

export const HintMessage = z.object({ type: growing(Hint.shape.type) });

export const RegisteredAnswer = z.pick(RegisteredAgent, {
  ...{ id: true, orgId: true, name: true, token: true, isEphemeral: true, labels: true },
  ...{ heartbeatSeconds: true, pollSeconds: true },
});

export const AgentAnswer = z.extend(
  z.pick(Agent, {
    ...{ canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true },
    ...{ lastHeartbeatAt: true, labels: true, currentBuildId: true },
  }),
  { status: z.int() },
);

/** From where on a log is to be sent again. */
export const LogGapAnswer = z.pick(Problem, { expectedOffset: true });
