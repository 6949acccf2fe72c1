import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { getRecord } from "../../../src/archive/records.ts";
import { buildLogName } from "../../../src/domain/durable-objects.ts";
import type { HostReport } from "../../../src/githosts/core/host-report.ts";
import { BuildLogStore } from "../../../src/objects/log/store.ts";
import { AgentPool } from "../../../src/objects/pool/agent-pool.ts";
import { newDelivery, newRequestedBuild } from "../../support/arrivals.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { fails } from "../../support/platform/effects.ts";
import { newPlatform } from "../../support/platform/platform.ts";
import { D1, R2 } from "../../support/platform/texts.ts";
import { actor, busy, newBuild, type Pool, poolOf, registered, value } from "./support.ts";

afterEach(() => {
  vi.useRealTimers();
});

const sqlOf = <T>(pool: Pool, work: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(pool, (_object, { storage }) => work(storage.sql));

const count = (pool: Pool, table: string): Promise<number> =>
  sqlOf(pool, (sql) => sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${table}`).one().count);

/** Calls `act` with the same pool on the same disk, whose bindings fail. */
const boundTo = <T>(pool: Pool, faults: Partial<Env>, act: (object: AgentPool) => Promise<T>): Promise<T> =>
  runInDurableObject(pool, async (_object, state) => {
    const object = new AgentPool(state, { ...env, ...faults });
    await state.blockConcurrencyWhile(async () => {});
    return act(object);
  });

const inD1 = async (id: string): Promise<string | undefined> => {
  const query = env.DB.prepare("SELECT status FROM build_summary WHERE id = ?").bind(id);
  return (await query.first<{ status: string }>())?.status;
};

it("the pool deletes 50,000 old builds within ten rounds of upkeep", { timeout: 60_000 }, async () => {
  const pool = poolOf("crowded");
  const { id } = value(await pool.enqueue(newBuild("crowded", { inputs: null, secretKeys: [] })));
  value(await pool.cancel({ buildId: id, actor }));
  await pool.flush();
  await sqlOf(pool, (sql) => {
    sql.exec("UPDATE build SET ended_at = 1");
    const many = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)";
    sql.exec(`INSERT INTO build (seq, id, ended_at, facts) ${many} SELECT i, 'b' || i, 1, build.facts FROM n, build`);
    sql.exec("INSERT INTO report SELECT id, '{}' FROM build");
  });
  expect(await count(pool, "build")).toBe(50_000);
  let rounds = 0;
  for (let hasOldRows = true; hasOldRows; rounds++) {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    ({ hasOldRows } = await pool.sweep());
  }
  expect(rounds).toBeLessThanOrEqual(10);
  expect([await count(pool, "build"), await count(pool, "report")]).toEqual([0, 0]);
});

it("the pool queries D1 once if it answers with a failure, however much is pending", async () => {
  const pool = poolOf("ailing");
  for (let made = 0; made < 60; made++) await registered(pool, "ailing");
  const ailing = newPlatform().trouble("DB", fails(D1.storage), { only: ({ statements }) => statements.length > 1 });
  await pool.flush();
  expect(ailing.injected).toBe(1);
  expect(await count(pool, "audit_outbox")).toBe(60);
  ailing.end();
  await pool.flush();
  expect(await count(pool, "audit_outbox")).toBe(0);
});

it("the pool waits longer after each attempt while D1 is unavailable, even if it was reloaded meanwhile", async () => {
  const pool = poolOf("loaded");
  await registered(pool, "loaded");
  await evictDurableObject(pool);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const away = newPlatform().trouble("DB", fails(D1.storage));
  const pauses: number[] = [];
  while (pauses.length < 6) {
    await runDurableObjectAlarm(pool);
    const alarm = await runInDurableObject(pool, (_object, { storage }) => storage.getAlarm());
    pauses.push((alarm ?? Number.NaN) - Date.now());
    vi.setSystemTime(alarm ?? Number.NaN);
  }
  expect(pauses.at(-1)).toBe(60_000);
  expect(pauses).toEqual([...new Set(pauses)].sort((one, other) => one - other));
  away.end();
  await pool.flush();
  expect(await count(pool, "audit_outbox")).toBe(0);
});

it("the pool notifies D1 and a git host once of deliveries close together, after it answers all of them", async () => {
  const pool = poolOf("pushed");
  await pool.flush();
  const batch = vi.fn((statements: D1PreparedStatement[]) => env.DB.batch(statements));
  const report = vi.fn(async (_reports: HostReport[]) => ({ hearsPhases: true }));
  const DB = { prepare: (sql: string) => env.DB.prepare(sql), batch } as unknown as D1Database;
  const GIT_HOST = fakeObjects<Env["GIT_HOST"]>(() => ({ report }));
  const builds = ["a", "b", "c", "d", "e"].map((head) =>
    newRequestedBuild(newBuild("pushed", { branch: head, inputs: null, secretKeys: [] }), { head }),
  );
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await boundTo(pool, { DB, GIT_HOST }, async (object) => {
    for (const build of builds) {
      value(await object.arrive(newDelivery("pushed", build.id, { builds: [build] })));
      expect([batch, report].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    }
    await vi.runAllTimersAsync();
    await object.flush();
    expect([batch, report].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });
  expect(report.mock.calls[0]![0].map(({ buildId }) => buildId)).toEqual(builds.map(({ id }) => id));
  expect(await inD1(builds[4]!.id)).toBe("queued");
});

it("the pool reports an end to D1 only when the archive has the record, and everything else meanwhile", async () => {
  const pool = poolOf("unrecorded");
  const holder = await busy(pool, "unrecorded", { inputs: null, secretKeys: [] });
  await pool.flush();
  value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
  const away = newPlatform().trouble("ARCHIVE", fails(R2.internal));
  const other = newBuild("unrecorded");
  await pool.enqueue(other);
  await pool.flush();
  expect([await inD1(holder.jobId), await inD1(other.id)]).toEqual(["queued", "queued"]);
  away.end();
  await evictDurableObject(pool);
  await pool.flush();
  expect(await inD1(holder.jobId)).toBe("succeeded");
  const ended = value(await pool.getBuild(holder.jobId));
  const record = await getRecord(env.ARCHIVE, { ...ended, finishedAt: ended.finishedAt! });
  expect(record).toEqual({ ...ended, requires: {}, hasRunValues: false });
});

it("the pool sets aside rows that it cannot read, lists them, and takes them back once they are readable", async () => {
  const pool = poolOf("damaged");
  const lost = await registered(pool, "damaged");
  const kept = await registered(pool, "damaged");
  const { id } = value(await pool.enqueue(newBuild("damaged")));
  await pool.flush();
  await sqlOf(pool, (sql) => {
    sql.exec("UPDATE agent SET facts = '{\"tokenHash\":' WHERE id = ?", lost.agentId);
    sql.exec("INSERT INTO audit_outbox (body) VALUES ('secret')");
  });
  await evictDurableObject(pool);
  expect(value(await pool.claim({ ...kept, bootId: "b1" }))?.jobId).toBe(id);
  await pool.flush();
  const letters = await pool.deadLetters(0, 10);
  expect(letters.map(({ what, reason }) => [what, reason])).toEqual([
    [`a row of agent: ${lost.agentId}`, "it is not JSON"],
    ["a row of audit_outbox: 1", "it is not JSON"],
  ]);
  expect(await pool.deadLetters(letters[0]!.seq, 10)).toHaveLength(1);
  expect(await pool.retryDeadLetters(letters.map(({ seq }) => seq))).toBe(0);
  expect(await pool.sweep()).toMatchObject({ deadLetters: 2 });
  await pool.flush();
  expect(await pool.sweep()).toMatchObject({ outboxSeconds: 0, outboxFailures: 0 });
});

it("the pool retries rows that D1 rejected when the operator requests it", async () => {
  const pool = poolOf("mended");
  const refusal = "CREATE TRIGGER refuse_mended BEFORE INSERT ON audit_log WHEN NEW.org_id = 'mended'";
  await env.DB.prepare(`${refusal} BEGIN SELECT RAISE(ABORT, 'CHECK constraint failed'); END`).run();
  const { agentId } = await registered(pool, "mended");
  for (let attempt = 0; attempt < 5; attempt++) await pool.flush();
  await env.DB.prepare("DROP TRIGGER refuse_mended").run();
  const [letter] = await pool.deadLetters(0, 10);
  expect(letter).toMatchObject({ what: `audit agent.register of ${agentId}` });
  expect(await pool.retryDeadLetters([letter!.seq])).toBe(1);
  await pool.flush();
  const found = env.DB.prepare("SELECT action FROM audit_log WHERE subject = ?").bind(agentId);
  expect(await found.first()).toEqual({ action: "agent.register" });
  expect(await pool.deadLetters(0, 10)).toEqual([]);
});

it("the pool sends D1 a rejected build even if it was evicted after the operator's request", async () => {
  const pool = poolOf("again");
  const refusal = "CREATE TRIGGER refuse_again BEFORE INSERT ON build_summary WHEN NEW.org_id = 'again'";
  await env.DB.prepare(`${refusal} BEGIN SELECT RAISE(ABORT, 'CHECK constraint failed'); END`).run();
  const { id } = value(await pool.enqueue(newBuild("again", { inputs: null, secretKeys: [] })));
  value(await pool.cancel({ buildId: id, actor }));
  for (let attempt = 0; attempt < 5; attempt++) await pool.flush();
  await env.DB.prepare("DROP TRIGGER refuse_again").run();
  const letters = await pool.deadLetters(0, 10);
  expect(await pool.retryDeadLetters(letters.map(({ seq }) => seq))).toBe(1);
  await evictDurableObject(pool);
  await pool.flush();
  expect(await inD1(id)).toBe("canceled");
});

it("the pool writes a build's steps at most every half minute, and all of them at its end", async () => {
  const pool = poolOf("steps");
  const holder = await busy(pool, "steps");
  const step = (name: string) => {
    const times = { startedAt: null, finishedAt: null, logOffset: null };
    return { id: null, name, status: "running" as const, exitCode: null, ...times };
  };
  const written = () =>
    sqlOf(pool, (sql) => sql.exec<{ steps: string }>("SELECT report ->> '$.steps' AS steps FROM build").one().steps);
  for (const name of ["one", "two", "three"]) value(await pool.progress({ ...holder, steps: [step(name)] }));
  expect(await written()).toContain("one");
  expect(value(await pool.getBuild(holder.jobId)).steps).toMatchObject([{ name: "three" }]);
  value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
  expect(await written()).toContain("three");
});

it("the pool restarts after an alarm that failed, and needs one row for one that did not", async () => {
  const pool = poolOf("alarmed");
  await busy(pool, "alarmed");
  await pool.flush();
  await runInDurableObject(pool, async (object: AgentPool, { storage }) => {
    await storage.deleteAlarm();
    const fire = (isRetry: boolean) =>
      object.alarm({ isRetry, retryCount: Number(isRetry), scheduledTime: Date.now() });
    const setAlarm = vi.spyOn(storage, "setAlarm");
    await fire(false);
    expect(setAlarm).toHaveBeenCalledTimes(1);
    await storage.deleteAlarm();
    await fire(true);
    expect(await storage.getAlarm()).not.toBeNull();
  });
});

it("the pool notifies D1 and deletes even after it was closed and evicted, and its alarm stops", async () => {
  const pool = poolOf("leaving");
  const { id, number, repoId } = value(await pool.enqueue(newBuild("leaving")));
  value(await pool.cancel({ buildId: id, actor }));
  await pool.flush();
  const last = value(await pool.enqueue(newBuild("leaving")));
  value(await pool.cancel({ buildId: last.id, actor }));
  const away = newPlatform().trouble("ARCHIVE", fails(R2.internal));
  const seen = { repoId, number, finishedAt: null };
  await pool.deleteBuild({ buildId: id, deleted: "build", seen, actor });
  away.end();
  await pool.close();
  await evictDurableObject(pool);
  await pool.flush();
  expect([await inD1(id), await inD1(last.id)]).toEqual([undefined, "canceled"]);
  const firedAt = Date.now();
  await runDurableObjectAlarm(pool);
  const alarm = await runInDurableObject(pool, (_object, { storage }) => storage.getAlarm());
  expect(alarm).toBeGreaterThan(firedAt + 10_000);
});

const closedFence = ({ orgId, jobId }: { orgId: string; jobId: string }): Promise<number> =>
  runInDurableObject(
    env.BUILD_LOG.getByName(buildLogName(orgId, jobId)),
    (_object, { storage }) => new BuildLogStore(storage).closedFence,
  );

const close = () => Promise.reject(new Error("the log is unavailable"));
const BUILD_LOG = fakeObjects<Env["BUILD_LOG"]>(() => ({ close }));

it("the pool closes a build's log at once when the build ends, without a row", async () => {
  const pool = poolOf("ends");
  const holder = { ...(await busy(pool, "ends")), orgId: "ends" };
  value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
  expect(await count(pool, "log_outbox")).toBe(0);
  await expect.poll(() => closedFence(holder)).toBe(holder.fence);
  await pool.flush();
  expect(await count(pool, "log_outbox")).toBe(0);
});

it("the pool closes an ended build's log after a crash, whether or not D1 has the end", async () => {
  const pool = poolOf("close-again");
  const holders = [await busy(pool, "close-again"), await busy(pool, "close-again")];
  const DB = { prepare: (sql: string) => env.DB.prepare(sql), batch: close } as unknown as D1Database;
  const end = (index: number, faults: Partial<Env>) =>
    boundTo(pool, faults, async (object) => {
      value(await object.finish({ ...holders[index]!, status: "succeeded", exitCode: 0 }));
      await object.flush();
    });
  await end(0, { DB, BUILD_LOG });
  await end(1, { BUILD_LOG });
  expect(await inD1(holders[1]!.jobId)).toBe("succeeded");
  expect(await count(pool, "build WHERE ended_at IS NULL")).toBe(2);
  await evictDurableObject(pool);
  await pool.flush();
  for (const holder of holders) expect(await closedFence({ ...holder, orgId: "close-again" })).toBe(holder.fence);
  await pool.flush();
  expect([await count(pool, "log_outbox"), await count(pool, "build WHERE ended_at IS NULL")]).toEqual([0, 0]);
});
