import * as z from "zod/mini";
import { JobStatus } from "./build-job.ts";
import { LEASED } from "./build-states.ts";
import { Id } from "./common.ts";
import { Requires } from "./pipeline.ts";

/** The reason why one agent does not run the build. An agent without any code could claim the build now. */
export const AgentCode = z.enum([
  "offline",
  "busy",
  "draining",
  "unresponsive",
  "platform",
  "canBuildIOS",
  "canBuildAndroid",
  "canBuildWeb",
  "labels",
  "xcode",
  "gave-it-back",
  "too-old",
]);
export type AgentCode = z.infer<typeof AgentCode>;

/** The reason why the build as a whole does not run yet, or the build's state. */
export const WaitCode = z.enum([
  "no-agents",
  "no-capable-agent",
  "needs",
  "gate",
  "max-parallel",
  "group",
  "dependency-away",
  "all-busy",
  "behind-others",
  "next",
  ...LEASED,
  "ended",
]);
export type WaitCode = z.infer<typeof WaitCode>;

/** A sentence for people. `words` is the old name of the field, which will be removed on the next breaking date. */
const SENTENCE = { message: z.string(), words: z.string() };

/** Returns the sentence under both names. */
export const sentence = (message: string) => ({ message, words: message });

export const Explanation = z.object({
  buildId: Id,
  status: JobStatus,
  code: WaitCode,
  ...SENTENCE,
  ahead: z.nullable(z.int()),
  requires: z.optional(Requires),
  groups: z.optional(z.array(z.object({ codes: z.array(AgentCode), agents: z.int(), online: z.int(), ...SENTENCE }))),
  agents: z.array(z.object({ agentId: Id, name: z.string(), codes: z.array(AgentCode), ...SENTENCE })),
});
export type Explanation = z.infer<typeof Explanation>;
