import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { dayOf, logPrefix } from "../../../src/archive/keys.ts";
import { buildLogName } from "../../../src/domain/durable-objects.ts";
import type { BuildLog } from "../../../src/objects/log/build-log.ts";
import { AgentPool } from "../../../src/objects/pool/agent-pool.ts";
import { D1, OBJECT } from "../../support/platform/texts.ts";
import { actor, busy, newBuild, type Pool, poolOf, registered, value } from "./support.ts";

const statusInD1 = async (id: string) => {
  const row = await env.DB.prepare("SELECT status FROM build_summary WHERE id = ?")
    .bind(id)
    .first<{ status: string }>();
  return row?.status;
};

const auditsOf = async (subject: string) => {
  const query = env.DB.prepare("SELECT action FROM audit_log WHERE subject = ? ORDER BY id").bind(subject);
  return (await query.all<{ action: string }>()).results.map(({ action }) => action);
};

const fails = () => Promise.reject(new Error(`D1_ERROR: ${D1.lost}`));
const silent = () => new Promise<never>(() => {});

/** Calls `act` with the same pool on the same disk, whose database fails at once or after the comparison. */
const withDatabase = <T>(
  pool: Pool,
  call: () => Promise<never>,
  act: (broken: AgentPool) => Promise<T>,
  isCompared = true,
): Promise<T> =>
  runInDurableObject(pool, async (_object, state) => {
    const statement = { bind: () => statement, run: call, all: call, first: call };
    const prepare = (query: string) =>
      isCompared && query.startsWith("SELECT sequence") ? env.DB.prepare(query) : statement;
    const DB = { prepare, batch: call } as unknown as D1Database;
    const broken = new AgentPool(state, { ...env, DB });
    await state.blockConcurrencyWhile(async () => {});
    return act(broken);
  });

describe("the log of a build", () => {
  it("is closed for good by any end of the build, so that it moves to the archive", async () => {
    const pool = poolOf("closing");
    const { agentId, jobId, fence } = await busy(pool, "closing", { maxAttempts: 1 });
    const log = env.BUILD_LOG.getByName(buildLogName("closing", jobId)) as DurableObjectStub<BuildLog>;
    await log.open({ fence, tokenHash: "t".repeat(64), attempt: 1, secrets: [] });
    value(await pool.removeAgent(agentId, actor));
    await pool.flush();
    expect(await log.info()).toMatchObject({ isComplete: true });
    expect(await runDurableObjectAlarm(log)).toBe(true);
    const { objects } = await env.ARCHIVE.list({ prefix: logPrefix(dayOf(Date.now()), "closing", jobId) });
    expect(objects).toHaveLength(1);
  });
});

describe("D1 for the pool", () => {
  it("has a build before its trigger is answered, and its end after the alarm", async () => {
    const pool = poolOf("known");
    const { id } = value(await pool.enqueue(newBuild("known")));
    expect(await statusInD1(id)).toBe("queued");
    value(await pool.cancel({ buildId: id, actor }));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_000 });
    expect(await runDurableObjectAlarm(pool)).toBe(true);
    vi.useRealTimers();
    expect(await statusInD1(id)).toBe("canceled");
    expect(await auditsOf(id)).toEqual(["build.create", "build.cancel"]);
  });

  it("may fail: the pool continues, keeps its outbox through a crash, and delivers it later", async () => {
    const pool = poolOf("away");
    const wanted = newBuild("away");
    const made = await withDatabase(pool, fails, (broken) => broken.enqueue(wanted));
    expect(value(made)).toMatchObject({ status: "queued", number: 1 });
    expect(await statusInD1(wanted.id)).toBeUndefined();
    await evictDurableObject(pool);
    value(await pool.cancel({ buildId: wanted.id, actor }));
    await pool.flush();
    expect(await statusInD1(wanted.id)).toBe("canceled");
    expect(await auditsOf(wanted.id)).toEqual(["build.create", "build.cancel"]);
  });

  it("may hang: a trigger is answered anyway", async () => {
    const pool = poolOf("silent");
    const made = await withDatabase(pool, silent, (broken) => broken.enqueue(newBuild("silent")));
    expect(value(made).status).toBe("queued");
  });

  it.each([
    ["fail", fails],
    ["not answer", silent],
  ])(
    "may %s before a pool is compared with it: nothing is numbered or leased, and the caller is asked to retry",
    async (_, call) => {
      const pool = poolOf("uncompared");
      const speaker = await registered(pool, "uncompared");
      const waiting = value(await pool.enqueue(newBuild("uncompared")));
      const refused = { ok: false, refusal: { kind: "unavailable", retryAfterSeconds: 5 } };
      await evictDurableObject(pool);
      await withDatabase(
        pool,
        call,
        async (broken) => {
          expect(await broken.enqueue(newBuild("uncompared"))).toMatchObject(refused);
          expect(await broken.claim({ ...speaker, bootId: "b1" })).toMatchObject(refused);
        },
        false,
      );
      await evictDurableObject(pool);
      // After the rejected claim, the pool pauses for one second and the claim's build waits for two.
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2_000 });
      expect(value(await pool.claim({ ...speaker, bootId: "b1" }))).toMatchObject({ jobId: waiting.id });
      value(await pool.cancel({ buildId: waiting.id, actor }));
      await pool.removeAgent(speaker.agentId, actor);
      await pool.flush();
      vi.useRealTimers();
    },
  );

  it("never returns to an older version, however late that version arrives", async () => {
    const pool = poolOf("versions");
    const { id } = value(await pool.enqueue(newBuild("versions")));
    const read = () =>
      env.DB.prepare("SELECT * FROM build_summary WHERE id = ?").bind(id).first<Record<string, unknown>>();
    await env.DB.prepare(
      "UPDATE build_summary SET pool_version = pool_version + 1000000, status = 'newer' WHERE id = ?",
    )
      .bind(id)
      .run();
    const newer = await read();
    value(await pool.cancel({ buildId: id, actor }));
    await pool.flush();
    expect(await read()).toEqual(newer);
  });

  const UNHARMED = { deadLetters: 0, afterwards: "queued" };

  /** Fails the delivery of a pool's two rows more often than a row has attempts. @returns the effects */
  const troubledBy = async (name: string, reason: string) => {
    const pool = poolOf(name);
    const build = newBuild(name);
    let batches = 0;
    const call = () => {
      batches += 1;
      return Promise.reject(new Error(reason));
    };
    const deadLetters = await withDatabase(pool, call, async (broken) => {
      await broken.enqueue(build);
      batches = 0;
      for (let attempt = 0; attempt < 6; attempt++) await broken.flush();
      return (await broken.metrics()).outbox.deadLetters;
    });
    await evictDurableObject(pool);
    await pool.flush();
    return { batches, deadLetters, afterwards: await statusInD1(build.id) };
  };

  it.each([...Object.values(D1), OBJECT.overloaded])(
    "costs one batch an attempt, and no row, while it says: %s",
    async (reason) => {
      expect(await troubledBy("troubled", `D1_ERROR: ${reason}`)).toEqual({ ...UNHARMED, batches: 6 });
    },
  );

  it("gets all rows again, without a dead letter, if it rejects every row for a common reason", async () => {
    const reason = "D1_ERROR: CHECK constraint failed: told > 0: SQLITE_CONSTRAINT";
    expect(await troubledBy("rejected", reason)).toEqual({ ...UNHARMED, batches: 18 });
  });

  it("may reject a row: it becomes a dead letter, and the rows behind it are delivered", async () => {
    const pool = poolOf("poison");
    const trigger =
      "CREATE TRIGGER refuse BEFORE INSERT ON audit_log WHEN NEW.org_id = 'poison' AND NEW.action = 'agent.register'";
    await env.DB.prepare(`${trigger} BEGIN SELECT RAISE(ABORT, 'CHECK constraint failed'); END`).run();
    const agent = await registered(pool, "poison");
    const { id } = value(await pool.enqueue(newBuild("poison")));
    for (let attempt = 0; attempt < 6; attempt++) await pool.flush();
    expect(await statusInD1(id)).toBe("queued");
    expect(await auditsOf(id)).toEqual(["build.create"]);
    expect(await auditsOf(agent.agentId)).toEqual([]);
    expect((await pool.metrics()).outbox).toEqual({ builds: 0, failures: 0, deadLetters: 1, parked: 1 });
    await env.DB.prepare("DROP TRIGGER refuse").run();
  });
});

describe("the pool's alarm", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const later = (milliseconds: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds });

  it("requeues the build of a silent agent", async () => {
    const pool = poolOf("lost");
    const holder = await busy(pool, "lost");
    later(60_001);
    expect(await runDurableObjectAlarm(pool)).toBe(true);
    expect(value(await pool.getBuild(holder.jobId))).toMatchObject({ status: "queued", attempt: 1, agentId: null });
    expect(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 })).toMatchObject({
      refusal: { kind: "lease-lost" },
    });
  });

  it("is set while anything is due, even after an eviction", async () => {
    const pool = poolOf("armed");
    await busy(pool, "armed");
    await pool.flush();
    const alarmAt = () => runInDurableObject(pool, (_object, state) => state.storage.getAlarm());
    const first = await alarmAt();
    expect(first).not.toBeNull();
    await evictDurableObject(pool);
    expect(await alarmAt()).toBe(first);
    expect(await runDurableObjectAlarm(pool)).toBe(true);
    expect(await alarmAt()).not.toBeNull();
  });

  it("deletes builds a day after their end, except for data that a retry needs", async () => {
    const pool = poolOf("old");
    const { id } = value(await pool.enqueue(newBuild("old")));
    value(await pool.cancel({ buildId: id, actor }));
    await pool.flush();
    later(24 * 60 * 60 * 1000 - 60_000);
    await pool.sweep();
    expect((await pool.getBuild(id)).ok).toBe(true);
    later(2 * 60 * 60 * 1000);
    await pool.sweep();
    expect((await pool.getBuild(id)).ok).toBe(false);
    expect(value(await pool.inputsOf(id))).toEqual({
      inputs: "sealed",
      secretKeys: ["RUN"],
      requires: {},
      priority: 0,
    });
  });
});
