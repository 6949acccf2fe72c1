import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { actor, busy, poolOf, registered, value } from "./support.ts";

const DAY_MS = 86_400_000;

describe("the pool's alarm", () => {
  it("removes agents that were silent for AGENT_DAYS, including those that an older release stored", async () => {
    const pool = poolOf("forgotten");
    const [silent, older, fresh] = [
      await registered(pool, "forgotten"),
      await registered(pool, "forgotten"),
      await registered(pool, "forgotten"),
    ];
    const { agentId } = await busy(pool, "forgotten");
    const due = await runInDurableObject(pool, (_object, { storage }) => storage.getAlarm());
    expect(due).toBeLessThanOrEqual(Date.now() + 90 * DAY_MS);
    await runInDurableObject(pool, (_object, { storage: { sql } }) => {
      const old = Date.now() - 91 * DAY_MS;
      const set = "UPDATE agent SET facts = json_set(facts, '$.heardAt', ?) WHERE id <> ?";
      sql.exec(set, old, fresh.agentId);
      sql.exec("UPDATE agent SET facts = json_remove(facts, '$.registeredBy') WHERE id = ?", older.agentId);
    });
    await evictDurableObject(pool);
    await runDurableObjectAlarm(pool);
    const left = (await pool.listAgents()).map(({ id }) => id).sort();
    expect(left).toEqual([fresh.agentId, agentId].sort());
    expect(await pool.authenticateAgent(silent.tokenHash)).toMatchObject({ refusal: { kind: "unauthenticated" } });
    await pool.flush();
    const { results } = await env.DB.prepare("SELECT actor, detail FROM audit_log WHERE subject = ? AND action = ?")
      .bind(silent.agentId, "agent.forget")
      .all<{ actor: string; detail: string }>();
    expect(results.map((row) => [row.actor, JSON.parse(row.detail).name])).toEqual([["system", "mill"]]);
  });

  it("loads builds and agents that the previous release stored, during a build", async () => {
    const pool = poolOf("older");
    const holder = await busy(pool, "older");
    await runInDurableObject(pool, (_object, { storage: { sql } }) => {
      sql.exec("UPDATE agent SET facts = json_remove(facts, '$.registeredBy')");
    });
    await evictDurableObject(pool);
    expect(value(await pool.getAgent(holder.agentId))).toMatchObject({ registeredBy: null, status: 2 });
    const other = await registered(pool, "older");
    value(await pool.release({ ...holder, reason: "no way there", elsewhere: true }));
    expect(value(await pool.claim({ ...other, bootId: "b2" }))).toMatchObject({ jobId: holder.jobId });
    value(await pool.removeAgent(holder.agentId, actor));
  });
});
