import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { actor, busy, newAgent, newBuild, type Pool, poolOf, registered, value } from "./support.ts";

type Row = Record<string, SqlStorageValue>;

/** Copies every table of the pool's disk. @returns a function that puts them back, like a restore to this time */
const copyOf = async (pool: Pool): Promise<() => Promise<void>> => {
  const tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '[_s]*_*'";
  const kept = await runInDurableObject(pool, (_, { storage: { sql } }) =>
    [...sql.exec<{ name: string }>(tables)].map(({ name }) => ({
      name,
      rows: [...sql.exec<Row>(`SELECT * FROM ${name}`)],
    })),
  );
  return async () => {
    await runInDurableObject(pool, (_, { storage }) =>
      storage.transactionSync(() => {
        for (const { name, rows } of kept) {
          storage.sql.exec(`DELETE FROM ${name}`);
          for (const row of rows) {
            const marks = Object.keys(row).map(() => "?");
            storage.sql.exec(`INSERT INTO ${name} VALUES (${marks.join(", ")})`, ...Object.values(row));
          }
        }
      }),
    );
    await evictDurableObject(pool);
  };
};

const TOLD = ["build_summary", "audit_log", "pool", "token"];

/** Copies D1's tables. @returns a function that puts them back */
const copyOfDatabase = async (): Promise<() => Promise<void>> => {
  const kept = await Promise.all(
    TOLD.map(async (name) => ({ name, ...(await env.DB.prepare(`SELECT * FROM ${name}`).all<Row>()) })),
  );
  return async () => {
    const statements = kept.flatMap(({ name, results }) => [
      env.DB.prepare(`DELETE FROM ${name}`),
      ...results.map((row) => {
        const marks = Object.keys(row).map(() => "?");
        return env.DB.prepare(`INSERT INTO ${name} VALUES (${marks.join(", ")})`).bind(...Object.values(row));
      }),
    ]);
    await env.DB.batch(statements);
  };
};

const rowOf = (id: string) =>
  env.DB.prepare("SELECT status, reason, number FROM build_summary WHERE id = ?").bind(id).first();

const insertToken = (orgId: string, id: string) =>
  env.DB.prepare(
    "INSERT INTO token (id, org_id, hash, name, kind, role, version, created_at) VALUES (?1, ?2, ?3, 'x', 'api', 'admin', 1, '')",
  )
    .bind(id, orgId, `hash of ${id}`)
    .run();

/** Waits until the clock is later than at any earlier call. */
const tick = async (): Promise<void> => {
  for (const now = Date.now(); Date.now() <= now + 2; ) await Promise.resolve();
};

describe("a pool that is restored to an earlier time", () => {
  it("reruns no ended build, ends lost builds, continues the numbers, and keeps removed agents out", async () => {
    const org = "restored-pool";
    const pool = poolOf(org);
    const holder = await busy(pool, org);
    const removed = await registered(pool, org);
    await pool.flush();
    const restore = await copyOf(pool);
    await tick();
    const result = { status: "succeeded", exitCode: 0, message: null } as const;
    value(await pool.finish({ ...holder, ...result }));
    const lost = value(await pool.enqueue(newBuild(org)));
    value(await pool.removeAgent(removed.agentId, actor));
    await pool.flush();

    await restore();
    const next = value(await pool.enqueue(newBuild(org)));
    expect(next.number).toBe(3);
    expect(value(await pool.getBuild(holder.jobId))).toMatchObject({ status: "succeeded", exitCode: 0 });
    expect(value(await pool.finish({ ...holder, ...result }))).toMatchObject({ status: "succeeded" });
    expect(value(await pool.getBuild(lost.id))).toMatchObject({ status: "failed", reason: "agent-lost" });
    expect(await pool.claim({ ...removed, bootId: "b1" })).toMatchObject({ refusal: { kind: "unauthenticated" } });
    const { agentId, tokenHash } = holder;
    expect(value(await pool.claim({ agentId, tokenHash, bootId: "b1" }))?.jobId).toBe(next.id);
    await pool.flush();
    expect(await rowOf(lost.id)).toEqual({ status: "failed", reason: "agent-lost", number: 2 });
  });

  it("notices it even after changes and an eviction", async () => {
    const org = "restored-late";
    const pool = poolOf(org);
    const holder = await busy(pool, org);
    await pool.flush();
    const restore = await copyOf(pool);
    await tick();
    value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0, message: null }));
    await pool.flush();
    await restore();
    value(await pool.registerAgent(newAgent(org)));
    await evictDurableObject(pool);
    value(await pool.enqueue(newBuild(org)));
    expect(value(await pool.getBuild(holder.jobId)).status).toBe("succeeded");
  });
});

describe("D1 when it is restored to an earlier time", () => {
  it("gets builds again, and revoked tokens within one flush", async () => {
    const org = "restored-database";
    const pool = poolOf(org);
    const holder = await busy(pool, org);
    const tokenId = crypto.randomUUID();
    await insertToken(org, tokenId);
    await pool.flush();
    const restore = await copyOfDatabase();
    await tick();
    value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0, message: null }));
    const waiting = value(await pool.enqueue(newBuild(org)));
    await env.DB.prepare("DELETE FROM token WHERE id = ?").bind(tokenId).run();
    value(await pool.revoke([tokenId]));
    await pool.flush();
    expect(await rowOf(holder.jobId)).toMatchObject({ status: "succeeded" });

    await restore();
    expect(await rowOf(waiting.id)).toBeNull();
    const createdBy = { kind: "token", id: tokenId, name: "x" };
    expect(await pool.enqueue(newBuild(org, { createdBy }))).toMatchObject({ refusal: { kind: "unauthenticated" } });
    value(await pool.enqueue(newBuild(org)));
    await pool.flush();
    await pool.flush();
    await pool.flush();
    const found = await env.DB.prepare("SELECT id FROM token WHERE id = ?").bind(tokenId).first();
    expect(found).toBeNull();
    expect(await rowOf(holder.jobId)).toMatchObject({ status: "succeeded" });
    expect(await rowOf(waiting.id)).toMatchObject({ status: "queued" });
  });

  it("gets builds again from an idle pool when the operator requests it", async () => {
    const org = "restored-idle";
    const pool = poolOf(org);
    const restore = await copyOfDatabase();
    const { id } = value(await pool.enqueue(newBuild(org)));
    value(await pool.cancel({ buildId: id, actor }));
    await pool.flush();
    await restore();
    await evictDurableObject(pool);
    expect(value(await pool.restored("database"))).toMatchObject({ told: 1 });
    await pool.flush();
    await pool.flush();
    expect(await rowOf(id)).toMatchObject({ status: "canceled" });
  });
});

describe("a build that is active in D1", () => {
  it("ends if the pool does not know it, and is reported again if it has ended", async () => {
    const org = "stale";
    const pool = poolOf(org);
    const [known, gone] = [value(await pool.enqueue(newBuild(org))), value(await pool.enqueue(newBuild(org)))];
    value(await pool.cancel({ buildId: known.id, actor }));
    await pool.flush();
    await env.DB.prepare(
      "UPDATE build_summary SET status = 'running', finished_at = NULL, pool_version = 1 WHERE id = ?",
    )
      .bind(known.id)
      .run();
    await runInDurableObject(pool, (_, { storage }) => storage.sql.exec("DELETE FROM build WHERE id = ?", gone.id));
    await evictDurableObject(pool);
    expect(value(await pool.reconcile([known.id, gone.id]))).toMatchObject({ lost: 1, told: 1 });
    await pool.flush();
    expect(await rowOf(known.id)).toMatchObject({ status: "canceled" });
    expect(await rowOf(gone.id)).toMatchObject({ status: "failed", reason: "agent-lost" });
  });
});
