import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { AgentPool } from "../../../src/objects/pool/agent-pool.ts";
import { actor, busy, newAgent, poolOf, value } from "./support.ts";

const AGENTS = 5000;
const by = (tokenId: string) => ({ registeredBy: { tokenId, kind: "api", name: "of a test" } as const });

describe("agents of a revoked token", () => {
  it(`are removed in parts, up to all ${AGENTS} agents of an organization, and the call may be repeated`, async () => {
    const pool = poolOf("revoked");
    await busy(pool, "revoked");
    await runInDurableObject(pool, async (object: AgentPool) => {
      for (let n = 1; n < AGENTS; n++) value(await object.registerAgent(newAgent("revoked", by("token"))));
    });
    expect(await pool.registerAgent(newAgent("revoked"))).toMatchObject({ refusal: { kind: "limit-reached" } });
    const order = { tokenId: "token", wasThere: true, actor };
    const rounds: number[] = [];
    const first = value(await pool.removeAgentsOf(order));
    rounds.push(first.removed);
    await evictDurableObject(pool);
    for (let { left } = first; left > 0; ) {
      const round = value(await pool.removeAgentsOf(order));
      expect(round.left).toBe(left - round.removed);
      rounds.push(round.removed);
      ({ left } = round);
    }
    expect(Math.max(...rounds)).toBeLessThanOrEqual(250);
    expect(rounds.reduce((sum, count) => sum + count)).toBe(AGENTS - 1);
    expect(await pool.listAgents()).toMatchObject([{ status: 2 }]);
    expect(value(await pool.removeAgentsOf(order))).toEqual({ removed: 0, left: 0 });
  });

  it("can no longer be registered until a day has passed, even after an eviction", async () => {
    const pool = poolOf("remembered");
    value(await pool.registerAgent(newAgent("remembered", by("another"))));
    value(await pool.removeAgentsOf({ tokenId: "token", wasThere: true, actor }));
    await evictDurableObject(pool);
    const late = () => pool.registerAgent(newAgent("remembered", by("token")));
    expect(await late()).toMatchObject({ refusal: { kind: "unauthenticated" } });
    value(await pool.registerAgent(newAgent("remembered", by("another"))));
    await runInDurableObject(pool, (_object, { storage }) => {
      storage.sql.exec("UPDATE meta SET value = '1' WHERE name LIKE 'revoked:%'");
    });
    await evictDurableObject(pool);
    await pool.sweep();
    expect((await late()).ok).toBe(true);
    const rows = () =>
      runInDurableObject(pool, (_, { storage }) => storage.sql.exec("SELECT name FROM meta").toArray());
    expect(JSON.stringify(await rows())).not.toContain("revoked");
  });
});
