import { env } from "cloudflare:workers";
import { poolName } from "../../../src/domain/durable-objects.ts";
import type { AgentPool } from "../../../src/objects/pool/agent-pool.ts";
import type { NewAgent, NewBuild, Result } from "../../../src/queue/commands/commands.ts";

export type Pool = DurableObjectStub<AgentPool>;

const ACTOR = { actor: "token:test", requestId: "r1" };
export const actor = ACTOR;

export const poolOf = (orgId: string): Pool =>
  (env.AGENT_POOL as DurableObjectNamespace<AgentPool>).getByName(poolName(orgId));

export const newBuild = (orgId: string, over: Partial<NewBuild> = {}): NewBuild => ({
  ...{ id: crypto.randomUUID(), orgId, pipelineVersion: 1, branch: "main", commitSha: null, trigger: "api" },
  repoId: "00000000-0000-7000-8000-00000000000a",
  pipelineId: "00000000-0000-7000-8000-00000000000b",
  ...{ priority: 0, requires: {}, timeoutSeconds: 3600, maxParallel: null, maxAttempts: 2 },
  ...{ inputs: "sealed", secretKeys: ["RUN"], retryOf: null, idempotency: null, actor, ...over },
});

export const newAgent = (orgId: string, over: Partial<NewAgent> = {}): NewAgent => {
  const id = crypto.randomUUID();
  const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: true, canBuildWeb: true };
  return { id, orgId, name: "mill", ...skills, tokenHash: `hash of ${id}`, actor, ...over };
};

/** Returns the value of an accepted call. */
export const value = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(JSON.stringify(result.refusal));
  return result.value;
};

/** Registers an agent. @returns its credentials */
export const registered = async (pool: Pool, orgId: string, over: Partial<NewAgent> = {}) => {
  const agent = newAgent(orgId, over);
  value(await pool.registerAgent(agent));
  return { agentId: agent.id, tokenHash: agent.tokenHash };
};

/** Registers an agent that has started its own build. */
export const busy = async (pool: Pool, orgId: string, over: Partial<NewBuild> = {}) => {
  const speaker = await registered(pool, orgId);
  value(await pool.enqueue(newBuild(orgId, over)));
  const { jobId, fence } = value(await pool.claim({ ...speaker, bootId: "b1" }))!;
  const holder = { ...speaker, jobId, fence };
  value(await pool.start(holder));
  return holder;
};
