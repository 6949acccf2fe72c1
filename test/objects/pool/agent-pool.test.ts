import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { AgentPool } from "../../../src/objects/pool/agent-pool.ts";
import { PoolEngine } from "../../../src/objects/pool/engine.ts";
import { PoolStorage } from "../../../src/objects/pool/storage.ts";
import { actor, busy, newAgent, newBuild, poolOf, registered, value } from "./support.ts";

describe("the life of a build", () => {
  it("leads from the trigger to the result of one agent", async () => {
    const pool = poolOf("life");
    const wanted = newBuild("life");
    const build = value(await pool.enqueue(wanted));
    expect(build).toMatchObject({
      number: 1,
      status: "queued",
      attempt: 0,
      environment: null,
      steps: [],
      orgId: "life",
    });
    const speaker = await registered(pool, "life");
    const grant = value(await pool.claim({ ...speaker, bootId: "b1" }));
    expect(grant).toMatchObject({ jobId: wanted.id, inputs: "sealed", secretKeys: ["RUN"], timeoutSeconds: 3600 });
    const { fence } = grant!;
    const key = { key: "A", scope: "organization", isSecret: true, version: 1 } as const;
    const delivered = value(
      await pool.deliver({ jobId: wanted.id, fence, agentId: speaker.agentId, environment: [key] }),
    );
    expect(delivered).toMatchObject({ build: { environment: [key] }, leaseExpiresAt: grant?.leaseExpiresAt });
    const holder = { ...speaker, jobId: wanted.id, fence };
    expect(value(await pool.start(holder))).toMatchObject({ status: "running", attempt: 1, agentId: speaker.agentId });
    expect(value(await pool.getAgent(speaker.agentId))).toMatchObject({ status: 2, currentBuildId: wanted.id });
    expect(value(await pool.heartbeat({ ...speaker, fence, bootId: "b1" }))).toMatchObject({ cancel: false });
    value(await pool.progress({ ...holder, commitSha: "a".repeat(40), summary: "half way" }));
    const ended = value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
    expect(ended).toMatchObject({ status: "succeeded", exitCode: 0, summary: "half way", commitSha: "a".repeat(40) });
    expect(value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }))).toEqual(ended);
    expect(await pool.finish({ ...holder, status: "failed", exitCode: 1 })).toMatchObject({
      refusal: { kind: "conflict" },
    });
    expect(value(await pool.getBuild(wanted.id))).toEqual(ended);
    expect(value(await pool.getAgent(speaker.agentId))).toMatchObject({ status: 1, currentBuildId: null });
  });

  it("keeps its report through a crash, and a leak that is flagged after its end", async () => {
    const pool = poolOf("crash");
    const holder = await busy(pool, "crash");
    value(await pool.progress({ ...holder, summary: "so far" }));
    await evictDurableObject(pool);
    expect(value(await pool.getBuild(holder.jobId))).toMatchObject({ status: "running", summary: "so far" });
    const ended = value(await pool.finish({ ...holder, status: "failed", exitCode: 3, message: "no" }));
    value(await pool.flagLeak(holder));
    expect(value(await pool.getBuild(holder.jobId))).toEqual({ ...ended, leak: true });
  });
});

describe("the pool", () => {
  it("lists agents by id in pages, and only active builds", async () => {
    const pool = poolOf("lists");
    const ids: string[] = [];
    while (ids.length < 5) ids.push((await registered(pool, "lists")).agentId);
    ids.sort();
    const [first, second] = [newBuild("lists"), newBuild("lists")];
    for (const build of [first, second]) value(await pool.enqueue(build));
    value(await pool.cancel({ buildId: first.id, actor }));
    const listed = async (...page: [after?: string, atMost?: number]) =>
      (await pool.listAgents(...page)).map(({ id }) => id);
    expect(await listed()).toEqual(ids);
    expect(await listed(ids[1])).toEqual(ids.slice(2));
    expect(await listed(ids[1], 2)).toEqual(ids.slice(2, 4));
    expect((await pool.liveBuilds()).map(({ id }) => id)).toEqual([second.id]);
    expect(await pool.hasLiveBuilds({ repoId: second.repoId })).toBe(true);
    expect(await pool.hasLiveBuilds({ pipelineId: second.pipelineId! })).toBe(true);
    expect(await pool.hasLiveBuilds({ repoId: "another" })).toBe(false);
    expect(await pool.hasLiveBuilds({})).toBe(false);
  });

  it("creates one build for many concurrent calls with one idempotency key", async () => {
    const pool = poolOf("keys");
    const idempotency = { key: "k", caller: "token:1", bodyHash: "h" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => pool.enqueue(newBuild("keys", { idempotency }))));
    expect(new Set(answers.map((answer) => value(answer).id)).size).toBe(1);
    expect(await pool.liveBuilds()).toHaveLength(1);
  });

  it("belongs to one organization", async () => {
    const refused = runInDurableObject(poolOf("mine"), async (pool: AgentPool) => pool.enqueue(newBuild("yours")));
    await expect(refused).rejects.toThrow("another organization");
  });

  it("authenticates agents by their tokens until they are removed", async () => {
    const pool = poolOf("tokens");
    const agent = newAgent("tokens", { labels: ["gpu"] });
    const record = value(await pool.registerAgent(agent));
    const first = ["id", "name", "platform", "status", "isOnline", "canBuildIOS", "canBuildAndroid", "canBuildWeb"];
    expect(Object.keys(record).slice(0, 9)).toEqual([...first, "lastHeartbeatAt"]);
    expect(value(await pool.authenticateAgent(agent.tokenHash))).toEqual({ agentId: agent.id });
    value(await pool.removeAgent(agent.id, actor));
    expect(await pool.authenticateAgent(agent.tokenHash)).toMatchObject({ refusal: { kind: "unauthenticated" } });
    expect(await pool.removeAgent(agent.id, actor)).toMatchObject({ refusal: { kind: "not-found" } });
    await pool.flush();
    const { results } = await env.DB.prepare("SELECT action FROM audit_log WHERE subject = ? ORDER BY id")
      .bind(agent.id)
      .all();
    expect(results.map(({ action }) => action)).toEqual(["agent.register", "agent.remove"]);
  });

  it("explains builds and counts metrics", async () => {
    const pool = poolOf("explain");
    const { id } = value(await pool.enqueue(newBuild("explain", { requires: { ios: true } })));
    await registered(pool, "explain");
    const { code, agents } = value(await pool.explain(id));
    expect([code, agents[0]?.codes]).toEqual(["no-capable-agent", ["canBuildIOS"]]);
    expect(await pool.metrics()).toMatchObject({ orgId: "explain", builds: { waiting: 1 }, agents: { idle: 1 } });
    expect((await pool.explain("nowhere")).ok).toBe(false);
  });

  it("aborts after a decision that could not be stored, and reloads from disk", async () => {
    const pool = poolOf("torn");
    const { id } = value(await pool.enqueue(newBuild("torn")));
    await runInDurableObject(pool, (_object, { storage }) => {
      const full = "CREATE TRIGGER full BEFORE UPDATE ON build BEGIN SELECT RAISE(ABORT, 'disk full'); END";
      storage.sql.exec(full);
    });
    const torn = runInDurableObject(pool, (object: AgentPool) => object.cancel({ buildId: id, actor }));
    await expect(torn).rejects.toThrow("could not store");
    const again = poolOf("torn");
    await runInDurableObject(again, (_object, { storage }) => {
      storage.sql.exec("DROP TRIGGER full");
    });
    await evictDurableObject(again);
    expect(value(await poolOf("torn").getBuild(id)).status).toBe("queued");
  });
});

describe("the run values of ended builds", () => {
  it("are kept for the newest thousand with large values, and for all builds with small values", async () => {
    const pool = poolOf("given");
    const much = "x".repeat(5000);
    const first = [newBuild("given", { inputs: much }), newBuild("given", { inputs: "little" })];
    const active = newBuild("given", { inputs: much });
    for (const wanted of [...first, active]) value(await pool.enqueue(wanted));
    for (const { id } of first) value(await pool.cancel({ buildId: id, actor }));
    await pool.flush();
    await runInDurableObject(pool, (_, { storage }) => {
      const kept = new PoolStorage(
        storage.sql,
        () => "",
        () => 0,
      );
      const later = Date.now() + 1000;
      for (let n = 0; n < 1001; n++) {
        const runValues = { inputs: much, secretKeys: [], requires: {}, priority: 0 };
        kept.store([{ kind: "inputs", buildId: `later-${n}`, runValues, at: later + n }]);
      }
      kept.flush();
    });
    const isKept = await Promise.all([...first, active].map(async ({ id }) => (await pool.inputsOf(id)).ok));
    expect(isKept).toEqual([false, true, true]);
    expect((await pool.inputsOf("later-0")).ok).toBe(false);
    expect((await pool.inputsOf("later-1")).ok).toBe(true);
  });

  it("are kept for BUILD_DAYS, and for as long as a build is active", async () => {
    const pool = poolOf("week");
    const [old, recent, waiting] = [newBuild("week"), newBuild("week"), newBuild("week")];
    for (const build of [old, recent, waiting]) value(await pool.enqueue(build));
    for (const { id } of [old, recent]) value(await pool.cancel({ buildId: id, actor }));
    await pool.flush();
    await runInDurableObject(pool, async (_, state) => {
      const ages = [
        [old.id, 8.1],
        [recent.id, 7.9],
        [waiting.id, 30],
      ] as const;
      for (const [id, days] of ages) {
        state.storage.sql.exec("UPDATE inputs SET at = ? WHERE build_id = ?", Date.now() - days * 86_400_000, id);
      }
      const engine = new PoolEngine(state, { ...env, BUILD_DAYS: "7" } as Env);
      await engine.load();
      engine.sweep();
    });
    const known = await Promise.all([old, recent, waiting].map(async ({ id }) => (await pool.inputsOf(id)).ok));
    expect(known).toEqual([false, true, true]);
  });
});
