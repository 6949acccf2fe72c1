import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { poolName } from "../../src/domain/durable-objects.ts";
import { newBuild, poolOf, value } from "../objects/pool/support.ts";
import { call, newOrganization } from "../support/api.ts";
import { addsRows, fails, hangs, losesAnswer, resets, takes, waitsForTest } from "../support/platform/effects.ts";
import { newPlatform } from "../support/platform/platform.ts";
import { D1, OBJECT, R2 } from "../support/platform/texts.ts";

/* Checks that the model affects the service as documented. Without the model's trouble, each test fails. */

const TEN = Date.UTC(2026, 10, 22, 10);
const MINUTE = 60_000;
const one = () => env.DB.prepare("SELECT 1 AS one").first("one");

afterEach(() => {
  vi.useRealTimers();
});

describe("the D1 model", () => {
  it.each(Object.values(D1))("fails a query and a batch with the platform's error: %s", async (text) => {
    const platform = newPlatform();
    const trouble = platform.trouble("DB", fails(text));
    const error = { message: `D1_ERROR: ${text}` };
    await expect(one()).rejects.toMatchObject(error);
    await expect(env.DB.withSession("first-primary").batch([env.DB.prepare("SELECT 1")])).rejects.toMatchObject(error);
    expect(trouble.injected).toBe(2);
    expect(await platform.aside.DB.prepare("SELECT 1 AS one").first("one")).toBe(1);
    platform.leave();
    expect(await one()).toBe(1);
    expect(trouble.injected).toBe(2);
  });

  it("can be unavailable for a time, for the Worker and for objects", async () => {
    const { admin, orgId } = await newOrganization();
    const platform = newPlatform();
    const trouble = platform.trouble("DB", fails(D1.lost), { from: TEN, until: TEN + MINUTE });
    const seen: number[] = [];
    for (const at of [TEN - 1, TEN, TEN + MINUTE - 1, TEN + MINUTE]) {
      vi.useFakeTimers({ toFake: ["Date"], now: at });
      seen.push((await call(admin, "GET", "/build")).status);
    }
    expect([seen, trouble.injected]).toEqual([[200, 503, 503, 200], 2]);
    vi.setSystemTime(TEN);
    expect(await poolOf(orgId).enqueue(newBuild(orgId))).toMatchObject({ refusal: { kind: "unavailable" } });
    expect(trouble.injected).toBeGreaterThan(2);
  });

  it("can fail one of several calls, and lose the answer of a call that it ran", async () => {
    const platform = newPlatform();
    await env.DB.exec("CREATE TABLE kept (n INTEGER)");
    const writes = { only: ({ statements }: { statements: readonly string[] }) => /INSERT/.test(statements[0]!) };
    const second = platform.trouble("DB", fails(D1.lost), { ...writes, nth: 2 });
    const third = platform.trouble("DB", losesAnswer(D1.lost), { ...writes, nth: 3 });
    const write = (n: number) => env.DB.prepare("INSERT INTO kept VALUES (?)").bind(n).run();
    const ends = await Promise.allSettled([1, 2, 3, 4].map(write));
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    const { results } = await env.DB.prepare("SELECT n FROM kept ORDER BY n").all();
    expect(results).toEqual([{ n: 1 }, { n: 3 }, { n: 4 }]);
    expect([second.injected, third.injected]).toEqual([1, 1]);
    await env.DB.exec("DROP TABLE kept");
  });

  it("can be slow by the timers' clock, never answer, or wait for the test", async () => {
    const platform = newPlatform();
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: TEN });
    const slow = platform.trouble("DB", takes(2_000));
    const late = one().then(() => Date.now());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await late).toBe(TEN + 2_000);
    slow.end();
    const silent = platform.trouble("DB", hangs);
    expect(await Promise.race([one(), vi.advanceTimersByTimeAsync(MINUTE).then(() => "nothing")])).toBe("nothing");
    silent.end();
    const { effect, letGo } = waitsForTest();
    platform.trouble("DB", effect);
    const waiting = one();
    letGo();
    expect(await waiting).toBe(1);
  });

  it("without a free page reads, updates and deletes rows, and rejects new rows", async () => {
    await newOrganization();
    const platform = newPlatform();
    const full = platform.trouble("DB", fails(D1.full), { only: addsRows });
    await env.DB.batch([
      env.DB.prepare("UPDATE token SET name = 'x'"),
      env.DB.prepare("INSERT INTO guard (failed) SELECT 'x' WHERE false"),
      env.DB.prepare("DELETE FROM token"),
    ]);
    expect(full.injected).toBe(0);
    const insert = env.DB.prepare("INSERT INTO kept_elsewhere VALUES (1)").run();
    await expect(insert).rejects.toThrow("D1_ERROR: Exceeded maximum DB size");
    expect(full.injected).toBe(1);
  });
});

describe("the call count", () => {
  it("includes the work's calls to D1, R2 and objects, but no calls that an object makes", async () => {
    const platform = newPlatform();
    const { asked } = await platform.counting(async () => {
      await env.DB.batch([1, 2, 3].map((n) => env.DB.prepare("SELECT ?").bind(n)));
      await poolOf("counted").enqueue(newBuild("counted"));
      await env.ARCHIVE.head("none");
      await one();
    });
    expect(asked).toEqual({ rounds: 2, statements: 4, calls: ["AGENT_POOL enqueue", "ARCHIVE head"] });
  });
});

describe("the R2 model", () => {
  it("can be unavailable for one method, and lose the answer of a put", async () => {
    const platform = newPlatform();
    const away = platform.trouble("ARCHIVE", fails(R2.internal), { only: ({ method }) => method === "list" });
    const lost = platform.trouble("ARCHIVE", losesAnswer(R2.internal), { only: ({ method }) => method === "put" });
    await expect(env.ARCHIVE.list()).rejects.toThrow("(10001)");
    await expect(env.ARCHIVE.put("model", "kept")).rejects.toThrow("(10001)");
    expect(await (await env.ARCHIVE.get("model"))?.text()).toBe("kept");
    expect([away.injected, lost.injected]).toEqual([1, 1]);
    expect((await platform.aside.ARCHIVE.list({ prefix: "model" })).objects).toHaveLength(1);
    await env.ARCHIVE.delete("model");
  });

  it("can be unavailable for the parts of an upload", async () => {
    const platform = newPlatform();
    const part = platform.trouble("ARCHIVE", fails(R2.internal), { only: ({ method }) => method === "uploadPart" });
    const upload = await env.ARCHIVE.createMultipartUpload("parts");
    await expect(upload.uploadPart(1, "x")).rejects.toThrow("(10001)");
    const again = env.ARCHIVE.resumeMultipartUpload("parts", upload.uploadId);
    await expect(again.uploadPart(1, "x")).rejects.toThrow("(10001)");
    expect(part.injected).toBe(2);
    await again.abort();
  });
});

describe("the object model", () => {
  it("can be overloaded, which breaks the stub that got the error for good", async () => {
    const platform = newPlatform();
    const overloaded = platform.trouble("AGENT_POOL", fails(OBJECT.overloaded, { overloaded: true }), { nth: 1 });
    const pool = poolOf("overloaded");
    const error = { message: OBJECT.overloaded, overloaded: true };
    await expect(pool.metrics()).rejects.toMatchObject(error);
    await expect(pool.metrics()).rejects.toMatchObject(error);
    expect(overloaded.injected).toBe(1);
    expect(await poolOf("overloaded").metrics()).toMatchObject({ builds: { waiting: 0 } });
    // Tests can still read the object and evict it.
    expect(await runInDurableObject(pool, (object) => typeof object)).toBe("object");
    await evictDurableObject(pool);
  });

  it("can be reset after D1 stored a build and before the object notes it", async () => {
    const platform = newPlatform();
    const pool = poolOf("reset");
    await pool.flush();
    const again = () => env.AGENT_POOL.getByName(poolName("reset")) as unknown as DurableObjectStub;
    const only = ({ statements }: { statements: readonly string[] }) => statements.length > 1;
    const reset = platform.trouble("DB", resets(again), { only, nth: 1 });
    const build = newBuild("reset");
    await expect(pool.enqueue(build)).rejects.toThrow(OBJECT.reset);
    expect(reset.injected).toBe(1);
    const told = env.DB.prepare("SELECT status FROM build_summary WHERE id = ?").bind(build.id).first("status");
    expect(await told).toBe("queued");
    expect(value(await poolOf("reset").getBuild(build.id))).toMatchObject({ status: "queued" });
    const left = await runInDurableObject(poolOf("reset"), (_object, { storage }) =>
      storage.sql.exec("SELECT count(*) AS count FROM build WHERE audit IS NOT NULL").one(),
    );
    expect(left).toEqual({ count: 1 });
  });
});
