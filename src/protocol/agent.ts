import * as z from "zod/mini";
import type { JobStatus } from "./build-job.ts";
import { atMost, intBetween, withoutControls } from "./checks.ts";
import { Id, Labels, Name, NameFilter, OrgId, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { WHOLE } from "./page.ts";
import { TokenKind } from "./token.ts";
import { HOUR_MS } from "./units.ts";

/** The platform of an agent: 0 other, 1 macOS, 2 Linux, 3 Windows. */
export const Platform = intBetween(0, 3);
export const PLATFORM = { other: 0, macos: 1, linux: 2, windows: 3 } as const;

/**
 * The status of an agent: 0 offline, 1 idle, 2 busy (holds a lease), 3 draining. If several apply, offline precedes
 * draining, and draining precedes busy.
 */
export const AgentStatus = z.int().check(z.minimum(0), z.maximum(3));
export const AGENT_STATUS = { offline: 0, idle: 1, busy: 2, draining: 3 } as const;

/** The token that registered an agent, under the name that it had at the time. */
export const RegisteredBy = z.object({ tokenId: Id, kind: TokenKind, name: Name });
export type RegisteredBy = z.infer<typeof RegisteredBy>;

export const Agent = z.object({
  id: Id,
  name: Name,
  platform: Platform,
  status: AgentStatus,
  isOnline: z.boolean(),
  canBuildIOS: z.boolean(),
  canBuildAndroid: z.boolean(),
  canBuildWeb: z.boolean(),
  lastHeartbeatAt: Timestamp,
  orgId: OrgId,
  labels: Labels,
  version: z.nullable(z.string()),
  isDraining: z.boolean(),
  isEphemeral: z.boolean(),
  currentBuildId: z.nullable(Id),
  createdAt: Timestamp,
  registeredBy: z.nullable(RegisteredBy),
  /** The features beyond the first protocol that the agent reported. */
  features: z._default(z.array(z.string()), []),
  /** The versions of Xcode that the agent reported. */
  xcodes: z._default(z.array(z.string()), []),
});
export type Agent = z.infer<typeof Agent>;

const Version = z.string().check(atMost(LIMITS.agentVersionCharacters), withoutControls("*"));

/** The request that registers an agent. Agents of every release send it, so the service ignores unknown fields. */
export const AgentRegistration = z.object({
  name: Name,
  platform: Platform,
  canBuildIOS: z.boolean(),
  canBuildAndroid: z.boolean(),
  canBuildWeb: z.boolean(),
  labels: z.nullish(Labels),
  version: z.nullish(Version),
  isEphemeral: z.nullish(z.boolean()),
  protocol: z.nullish(z.int()),
});
export type AgentRegistration = z.infer<typeof AgentRegistration>;

/** The record of a new agent, how often the agent should call, and its token, which no later answer contains. */
export const RegisteredAgent = z.extend(Agent, {
  token: z.string(),
  heartbeatSeconds: z.int(),
  pollSeconds: z.int(),
});

export const AgentChange = z.strictObject({
  name: z.optional(Name),
  platform: z.optional(Platform),
  canBuildIOS: z.optional(z.boolean()),
  canBuildAndroid: z.optional(z.boolean()),
  canBuildWeb: z.optional(z.boolean()),
  labels: z.optional(Labels),
  version: z.optional(z.nullable(Version)),
  isDraining: z.optional(z.boolean()),
});

export type AgentChange = z.infer<typeof AgentChange>;

/**
 * The fields that an agent may change with its own token. The agent's registration limits everything else for its whole
 * life.
 */
export const OwnAgentChange = z.pick(AgentChange, { name: true, version: true });
export const AgentFilter = z.strictObject({ name: z.optional(NameFilter), ...WHOLE });

/** A job that an agent ran. Times are milliseconds since 1970. */
export interface AgentRun {
  agentId: string;
  buildId: string;
  /** The job's id; null for a first job, whose id is the build's id. */
  jobId: string | null;
  /** The job's key; null for a first job, and if the plan cannot be read. */
  jobKey: string | null;
  /** The build's number. */
  number: number;
  pipelineId: string | null;
  status: JobStatus;
  startedAt: number;
  /** The time at which the job ended; null while it runs. */
  finishedAt: number | null;
}

/** The time in milliseconds for which the pages show the jobs that agents ran. */
export const RUNS_MS = HOUR_MS;
/** Maximum runs on one page. */
export const MOST_RUNS = 2_000;
