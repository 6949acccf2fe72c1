import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CALLER_WAIT_MS } from "../../src/objects/attempt.ts";
import type { AgentPool } from "../../src/objects/pool/agent-pool.ts";
import { actor, busy, newBuild, type Pool, poolOf, value } from "../objects/pool/support.ts";
import { count, DAY_MS, NOW } from "../services/upkeep/support.ts";
import { writeOldRows } from "../support/old-rows.ts";
import { runCrons } from "../support/platform/crons.ts";
import type { Crossing } from "../support/platform/crossing.ts";
import { addsRows, fails, resets, takes } from "../support/platform/effects.ts";
import { newPlatform } from "../support/platform/platform.ts";
import { D1, OBJECT, R2 } from "../support/platform/texts.ts";

/* The drills of docs/operations.md, "When a goal is missed". */

const MINUTE = 60_000;
/** Later than workerd's clock, which would fire a past alarm at once. Here the test fires it. */
const BEGIN = Date.now() + DAY_MS;

const alarmAt = (pool: Pool) => runInDurableObject(pool, (_, { storage }) => storage.getAlarm());

/** Lets minutes pass, and fires the pool's alarm whenever it is due. @returns how often it fired */
const passMinutes = async (pool: () => Pool, from: number, minutes: number): Promise<number> => {
  let fired = 0;
  for (let at = from; at <= from + minutes * MINUTE; at += 10_000) {
    vi.setSystemTime(at);
    const due = await alarmAt(pool());
    if (due === null || due > at) continue;
    fired += 1;
    await runDurableObjectAlarm(pool());
  }
  return fired;
};

const inD1 = (db: D1Database, orgId: string, status: string) =>
  db
    .prepare("SELECT count(*) AS count FROM build_summary WHERE org_id = ? AND status = ?")
    .bind(orgId, status)
    .first("count");

beforeEach(async () => {
  await env.DB.exec("DELETE FROM upkeep_failure");
  await env.DB.exec("DELETE FROM pool");
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a full database", () => {
  it("loses its old rows in upkeep, even in a deployment whose upkeep never ran", async () => {
    await writeOldRows(env.DB, { orgId: "full", until: NOW - 500 * DAY_MS, builds: 50, audit: 50 });
    const platform = newPlatform();
    const full = platform.trouble("DB", fails(D1.full), { only: addsRows });
    await runCrons(NOW, 0);
    expect(await count("build_summary", "org_id = 'full'")).toBe(0);
    expect(await count("audit_log", "org_id = 'full'")).toBe(0);
    expect(full.injected).toBeGreaterThan(0);
  });
});

describe.each([
  ["unavailable for an hour", D1.lost, 60],
  ["overloaded for twenty minutes", D1.overloaded, 20],
])("D1 that is %s", (_, text, minutes) => {
  it("stops no running build, and gets every build when it is back", async () => {
    const orgId = `outage-${minutes}`;
    const pool = () => poolOf(orgId);
    vi.setSystemTime(BEGIN);
    const holders = [];
    for (let n = 0; n < 3; n++) holders.push(await busy(pool(), orgId, { inputs: null, secretKeys: [] }));
    await pool().flush();
    const platform = newPlatform();
    const outage = platform.trouble("DB", fails(text), { from: BEGIN, until: BEGIN + minutes * MINUTE });
    for (const holder of holders) value(await pool().finish({ ...holder, status: "succeeded", exitCode: 0 }));
    const made = newBuild(orgId);
    expect(value(await pool().enqueue(made))).toMatchObject({ status: "queued" });
    const before = outage.injected;
    await passMinutes(pool, BEGIN, minutes - 1);
    // Eight tries with growing pauses, and then one a minute.
    expect(outage.injected - before).toBeGreaterThanOrEqual(minutes - 5);
    expect(outage.injected - before).toBeLessThanOrEqual(minutes + 8);
    expect((await pool().metrics()).outbox).toMatchObject({ deadLetters: 0 });
    await passMinutes(pool, BEGIN + minutes * MINUTE, 1);
    expect([await inD1(env.DB, orgId, "succeeded"), await inD1(env.DB, orgId, "queued")]).toEqual([3, 1]);
    expect((await pool().metrics()).outbox).toEqual({ builds: 0, failures: 0, deadLetters: 0, parked: 0 });
  });
});

describe("D1 with answers that take two seconds", () => {
  it("delays only the build that waits for its list row, and gets the row then", async () => {
    const orgId = "slow";
    const first = value(await poolOf(orgId).enqueue(newBuild(orgId)));
    value(await poolOf(orgId).cancel({ buildId: first.id, actor }));
    await poolOf(orgId).flush();
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: BEGIN });
    const platform = newPlatform();
    const slow = platform.trouble("DB", takes(2_000));
    await runInDurableObject(poolOf(orgId), async (pool: AgentPool) => {
      const made = pool.enqueue(newBuild(orgId));
      await vi.advanceTimersByTimeAsync(CALLER_WAIT_MS);
      value(await made);
      expect([slow.injected, await inD1(platform.aside.DB, orgId, "queued")]).toEqual([1, 0]);
      slow.end();
      await vi.advanceTimersByTimeAsync(2_000);
      await pool.flush();
    });
    expect(await inD1(env.DB, orgId, "queued")).toBe(1);
  });
});

/** Creates builds and cancels them as a person. @returns their ids */
const canceled = async (orgId: string, builds: number): Promise<string[]> => {
  const wanted = Array.from({ length: builds }, () => newBuild(orgId, { inputs: null, secretKeys: [] }));
  await poolOf(orgId).enqueueAll(wanted);
  for (const { id } of wanted) value(await poolOf(orgId).cancel({ buildId: id, actor }));
  return wanted.map(({ id }) => id);
};

const recorded = async (orgId: string): Promise<string[]> => {
  const { objects } = await env.ARCHIVE.list({ prefix: "record/" });
  const keys = objects.map(({ key }) => key.split("/"));
  return keys.filter((parts) => parts.includes(orgId)).map((parts) => parts.at(-1)!.replace(/\..*/, ""));
};

describe("R2 after an hour's outage", () => {
  it("gets the records of 300 builds that ended meanwhile within a minute, at most a hundred at once", async () => {
    const orgId = "backlog";
    vi.setSystemTime(BEGIN);
    await poolOf(orgId).flush();
    const platform = newPlatform();
    const under = { way: 0, most: 0, bytes: 0, mostBytes: 0 };
    platform.trouble(
      "ARCHIVE",
      async (proceed, { given }) => {
        const bytes = String(given![1]).length;
        Object.assign(under, { way: under.way + 1, bytes: under.bytes + bytes });
        Object.assign(under, {
          most: Math.max(under.most, under.way),
          mostBytes: Math.max(under.mostBytes, under.bytes),
        });
        await proceed();
        Object.assign(under, { way: under.way - 1, bytes: under.bytes - bytes });
      },
      { from: BEGIN + 60 * MINUTE, only: ({ method }) => method === "put" },
    );
    const outage = platform.trouble("ARCHIVE", fails(R2.internal), { from: BEGIN, until: BEGIN + 60 * MINUTE });
    const ids = await canceled(orgId, 300);
    const fired = await passMinutes(() => poolOf(orgId), BEGIN, 59);
    expect(outage.injected).toBeGreaterThan(100 * 59);
    expect(outage.injected).toBeLessThanOrEqual(100 * (fired + 1));
    expect(await inD1(env.DB, orgId, "canceled")).toBe(0);
    await passMinutes(() => poolOf(orgId), BEGIN + 60 * MINUTE, 1);
    expect((await poolOf(orgId).metrics()).outbox).toEqual({ builds: 0, failures: 0, deadLetters: 0, parked: 0 });
    expect(await inD1(env.DB, orgId, "canceled")).toBe(300);
    expect((await recorded(orgId)).sort()).toEqual(ids.sort());
    expect(under.most).toBe(100);
    expect(under.mostBytes).toBeLessThan(200_000);
  });
});

describe("a pool that is reset during a flush", () => {
  it.each([
    ["before its write to D1", "ARCHIVE", ({ method }: Crossing) => method === "put"],
    ["before it noted its write to D1", "DB", ({ statements }: Crossing) => statements.length > 100],
  ] as const)("%s, tells all again, and nothing twice", async (_, part, only) => {
    const orgId = `reset-${part}`;
    const pool = () => poolOf(orgId) as unknown as DurableObjectStub;
    vi.setSystemTime(BEGIN);
    await poolOf(orgId).flush();
    const platform = newPlatform();
    const away = platform.trouble("ARCHIVE", fails(R2.internal));
    const ids = await canceled(orgId, 60);
    away.end();
    const reset = platform.trouble(part, resets(pool), { only, nth: 1 });
    vi.setSystemTime(BEGIN + MINUTE);
    await expect(poolOf(orgId).flush()).rejects.toThrow(OBJECT.reset);
    expect(reset.injected).toBe(1);
    await passMinutes(() => poolOf(orgId), BEGIN + 2 * MINUTE, 1);
    expect((await poolOf(orgId).metrics()).outbox).toEqual({ builds: 0, failures: 0, deadLetters: 0, parked: 0 });
    expect((await recorded(orgId)).sort()).toEqual(ids.sort());
    expect(await inD1(env.DB, orgId, "canceled")).toBe(60);
    expect(await count("audit_log", `org_id = '${orgId}'`)).toBe(120);
  });
});

describe("upkeep while D1 is unavailable for an hour", () => {
  it("queries D1 a few times a minute, and runs each due task once when D1 is back", async () => {
    await env.DB.exec("DELETE FROM pool");
    await runCrons(NOW, 0);
    const platform = newPlatform();
    const outage = platform.trouble("DB", fails(D1.lost), { from: NOW + MINUTE, until: NOW + 61 * MINUTE });
    for (let minute = 1; minute <= 60; minute++) expect(await runCrons(NOW, minute)).toEqual([]);
    expect(outage.injected).toBe(60);
    const [done] = await runCrons(NOW, 61);
    expect(done).toMatchObject({ failed: 0, archived: 0, cache: 0, reconciled: 0, recounted: 0 });
    const [next] = await runCrons(NOW, 62);
    expect(Object.keys(next!)).not.toContain("archived");
  });
});
