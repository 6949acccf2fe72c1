import * as z from "zod/mini";
import { BuildStatus, LEASED } from "./build-states.ts";
import { Id } from "./common.ts";
import { Requires } from "./pipeline.ts";

/** Why one agent does not have the build. An agent without any code could take it now. */
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
  "gave-it-back",
]);
export type AgentCode = z.infer<typeof AgentCode>;

/** Where the build stands as a whole. */
export const WaitCode = z.enum([
  "no-agents",
  "no-capable-agent",
  "max-parallel",
  "dependency-away",
  "all-busy",
  "behind-others",
  "next",
  ...LEASED,
  "ended",
]);
export type WaitCode = z.infer<typeof WaitCode>;

export const Explanation = z.object({
  buildId: Id,
  status: BuildStatus,
  code: WaitCode,
  words: z.string(),
  ahead: z.nullable(z.int()),
  requires: z.optional(Requires),
  groups: z.optional(
    z.array(z.object({ codes: z.array(AgentCode), agents: z.int(), online: z.int(), words: z.string() })),
  ),
  agents: z.array(z.object({ agentId: Id, name: z.string(), codes: z.array(AgentCode), words: z.string() })),
});
export type Explanation = z.infer<typeof Explanation>;
