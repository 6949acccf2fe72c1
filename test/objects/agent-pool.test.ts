import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { NewAgent, NewBuild } from "../../src/domain/pool/commands.ts";
import { poolName } from "../../src/domain/pool/name.ts";
import type { AgentPool } from "../../src/objects/agent-pool.ts";

const actor = { actor: "token:test", requestId: "r1" };
const pool = (orgId: string) => (env.AGENT_POOL as DurableObjectNamespace<AgentPool>).getByName(poolName(orgId));

const newBuild = (orgId: string, over: Partial<NewBuild> = {}): NewBuild => ({
  id: crypto.randomUUID(),
  orgId,
  repoId: "00000000-0000-7000-8000-00000000000a",
  pipelineId: "00000000-0000-7000-8000-00000000000b",
  pipelineVersion: 1,
  branch: "main",
  commitSha: null,
  trigger: "api",
  priority: 0,
  requires: {},
  timeoutSeconds: 3600,
  maxParallel: null,
  maxAttempts: 2,
  inputs: "sealed",
  secretKeys: ["RUN"],
  retryOf: null,
  idempotency: null,
  actor,
  ...over,
});

const newAgent = (orgId: string, over: Partial<NewAgent> = {}): NewAgent => {
  const id = crypto.randomUUID();
  const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: true, canBuildWeb: true };
  return { id, orgId, name: "mill", ...skills, tokenHash: `hash of ${id}`, actor, ...over };
};

const value = <T>(result: { ok: true; value: T } | { ok: false; refusal: unknown }): T => {
  if (!result.ok) throw new Error(JSON.stringify(result.refusal));
  return result.value;
};

describe("a build's life", () => {
  it("goes from the trigger to its end in one agent's hands, and D1 knows it at both ends", async () => {
    const stub = pool("life");
    const wanted = newBuild("life");
    const build = value(await stub.enqueue(wanted));
    expect(build).toMatchObject({ number: 1, status: "queued", attempt: 0, environment: null, steps: [] });
    const row = () => env.DB.prepare("SELECT status FROM build WHERE id = ?").bind(wanted.id).first();
    expect(await row()).toEqual({ status: "queued" });

    const agent = newAgent("life");
    value(await stub.registerAgent(agent));
    const speaker = { agentId: agent.id, tokenHash: agent.tokenHash };
    const grant = value(await stub.claim({ ...speaker, bootId: "b1" }));
    expect(grant).toMatchObject({ buildId: wanted.id, inputs: "sealed", secretKeys: ["RUN"] });
    const { fence } = grant!;
    const key = { key: "A", scope: "organization", isSecret: true, version: 1 } as const;
    const delivered = value(await stub.deliver({ buildId: wanted.id, fence, agentId: agent.id, environment: [key] }));
    expect(delivered.build.environment).toEqual([key]);
    const holder = { ...speaker, buildId: wanted.id, fence };
    expect(value(await stub.start(holder))).toMatchObject({ status: "running", attempt: 1, agentId: agent.id });
    expect(value(await stub.getAgent(agent.id))).toMatchObject({ status: 2, currentBuildId: wanted.id });
    expect(value(await stub.heartbeat({ ...holder, bootId: "b1" }))).toMatchObject({ cancel: false });
    value(await stub.progress({ ...holder, commitSha: "a".repeat(40), summary: "half way" }));
    const ended = value(await stub.finish({ ...holder, status: "succeeded", exitCode: 0 }));
    expect(ended).toMatchObject({ status: "succeeded", exitCode: 0, summary: "half way", commitSha: "a".repeat(40) });
    expect(value(await stub.finish({ ...holder, status: "succeeded", exitCode: 0 }))).toEqual(ended);
    expect(await stub.finish({ ...holder, status: "failed", exitCode: 1 })).toMatchObject({
      refusal: { kind: "conflict" },
    });
    await stub.flush();
    expect(await row()).toMatchObject({ status: "succeeded" });
    const { results } = await env.DB.prepare("SELECT action FROM audit WHERE subject = ? ORDER BY id")
      .bind(wanted.id)
      .all();
    expect(results.map(({ action }) => action)).toEqual([
      "build.create",
      "build.deliver",
      "build.start",
      "build.finish",
    ]);
  });
});
