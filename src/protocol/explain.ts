import * as z from "zod/mini";
import { BuildStatus } from "./build.ts";
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
  "assigned",
  "running",
  "canceling",
  "ended",
]);
export type WaitCode = z.infer<typeof WaitCode>;

export const Explanation = z.object({
  buildId: Id,
  status: BuildStatus,
  code: WaitCode,
  words: z.string(),
  ahead: z.nullable(z.int()).check(z.describe("Builds before it in the queue")),
  requires: z.optional(Requires).check(z.describe("What an agent must have; left out once it does not wait")),
  groups: z
    .optional(z.array(z.object({ codes: z.array(AgentCode), agents: z.int(), online: z.int(), words: z.string() })))
    .check(z.describe("Agents that the same keeps from it, together; the nearest first, 20 at most")),
  agents: z
    .array(z.object({ agentId: Id, name: z.string(), codes: z.array(AgentCode), words: z.string() }))
    .check(z.describe("Why each agent does not have it, the likeliest first")),
});
export type Explanation = z.infer<typeof Explanation>;
