import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { deleteLogs, listLogs, readLogText, readLogTimes } from "../../../src/archive/logs.ts";
import type { LogResult } from "../../../src/objects/log/turns.ts";
import { redeploy } from "../../support/deployment.ts";
import {
  A,
  alarmOf,
  append,
  B,
  events,
  follow,
  kind,
  type Log,
  newLog,
  opened,
  stored,
  textOf,
  value,
} from "./support.ts";

/* Asserts invariant 11 (docs/invariants.md). */

const ended = () => ({ day: "2026-01-02", orgId: "org", jobId: crypto.randomUUID() });
const textIn = async (owner: ReturnType<typeof ended>) => {
  const logs = await listLogs(env.ARCHIVE, owner);
  const texts = logs.map(async ({ key, size }) => new Response(await readLogText(env.ARCHIVE, key, 0, size)).text());
  return Promise.all(texts);
};
const writeMuch = async (log: Log, chunks: number): Promise<string> => {
  const chunk = `${"x".repeat(1023)}\n`.repeat(200);
  for (let n = 0; n < chunks; n++) await append(log, n * chunk.length, chunk);
  return chunk.repeat(chunks);
};

describe("the move of a log to the archive", () => {
  it("takes each attempt's log with its times, an hour after the end, and leaves nothing behind", async () => {
    const owner = ended();
    const log = await opened([]);
    await append(log, 0, "first ");
    await append(log, 6, "attempt");
    const times = await log.times({});
    await opened([], B, 2, log);
    await append(log, 0, "second", true, B);
    await log.close({ fence: B.fence, ended: owner });
    expect(await listLogs(env.ARCHIVE, owner)).toEqual([]);
    expect(await alarmOf(log)).toBeGreaterThan(Date.now() + 55 * 60_000);
    await log.close({ fence: B.fence, ended: owner });
    await runDurableObjectAlarm(log);
    expect(await textIn(owner)).toEqual(["first attempt", "second"]);
    const [first] = await listLogs(env.ARCHIVE, owner);
    expect(await readLogTimes(env.ARCHIVE, first!)).toEqual(times);
    expect(await alarmOf(log)).toBeNull();
    expect(await log.info()).toEqual({ attempts: [], isComplete: false });
    expect(kind(await append(log, 6, "late", false, B))).toBe("lease-lost");
  });

  it("loses nothing while the archive is unavailable, and retries", async () => {
    const owner = ended();
    const log = await opened([]);
    await append(log, 0, "kept", true);
    await log.close({ fence: A.fence, ended: owner });
    const refuse = () => Promise.reject(new Error("R2 is unavailable"));
    await redeploy(log, { ARCHIVE: { put: refuse } as unknown as R2Bucket });
    await runDurableObjectAlarm(log);
    expect(await stored(log)).toBe("kept");
    expect(await alarmOf(log)).toBeGreaterThan(Date.now());
    const short = async (...[key, body, more]: Parameters<R2Bucket["put"]>) => {
      await new Response(body as ReadableStream).arrayBuffer();
      return env.ARCHIVE.put(key, "k", more);
    };
    await redeploy(log, { ARCHIVE: { put: short } as unknown as R2Bucket });
    await runDurableObjectAlarm(log);
    expect(await stored(log)).toBe("kept");
    await redeploy(log, { ARCHIVE: env.ARCHIVE });
    await runDurableObjectAlarm(log);
    expect(await textIn(owner)).toEqual(["kept"]);
    expect(await stored(log)).toBe("");
  });

  it("redirects slow followers, and cuts off no reader", async () => {
    const owner = ended();
    const log = await opened([]);
    const text = await writeMuch(log, 8);
    const headers = { Upgrade: "websocket", "X-Token-Hash": "one" };
    const { webSocket } = await log.fetch("https://log/follow?from=0", { headers });
    const { body } = value((await log.read()) as never) as { body: ReadableStream<Uint8Array> };
    const reader = body.getReader();
    const begun = await reader.read();
    await log.close({ fence: A.fence, ended: owner });
    const told: string[] = [];
    webSocket!.accept();
    webSocket!.addEventListener("message", ({ data }) => void told.push(JSON.parse(String(data)).type));
    await runDurableObjectAlarm(log);
    await expect.poll(() => told).toEqual(["moved"]);
    let size = begun.value?.length ?? 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) size += part.value.length;
    expect(size).toBe(text.length);
  });

  it("waits for a lease that begins after all", async () => {
    const owner = ended();
    const log = await opened([]);
    await append(log, 0, "one", true);
    await log.close({ fence: A.fence, ended: owner });
    await opened([], B, 2, log);
    await runDurableObjectAlarm(log);
    expect(value(await append(log, 0, "two", true, B)).next).toBe(3);
    await log.close({ fence: B.fence, ended: owner });
    await runDurableObjectAlarm(log);
    expect(await textIn(owner)).toEqual(["one", "two"]);
  });

  it("happens at once for an old log, even if it was never closed", async () => {
    const owner = ended();
    const log = await opened([]);
    await append(log, 0, "old", true);
    await log.archive(owner);
    await log.archive(owner);
    expect(await textIn(owner)).toEqual(["old"]);
    const other = newLog();
    await other.archive(ended());
    expect(await other.info()).toMatchObject({ attempts: [] });
  });
});

describe("a log that a person deletes", () => {
  it("is deleted in both places, even right after somebody followed it, and is never written again", async () => {
    const owner = ended();
    const log = await opened([]);
    await append(log, 0, "gone", true);
    await log.close({ fence: A.fence, ended: owner });
    expect(textOf(await events(await follow(log)))).toBe("gone");
    await log.remove();
    await log.remove();
    await deleteLogs(env.ARCHIVE, owner);
    expect(await stored(log)).toBe("");
    await evictDurableObject(log);
    await log.close({ fence: A.fence, ended: owner });
    expect(kind((await log.open({ ...B, attempt: 2, secrets: [] })) as LogResult<null>)).toBe("lease-lost");
    await runDurableObjectAlarm(log);
    expect(await textIn(owner)).toEqual([]);
    expect(await alarmOf(log)).toBeNull();
  });

  it("waits for a move in progress", async () => {
    const owner = ended();
    const log = await opened([]);
    await append(log, 0, "gone", true);
    await log.close({ fence: A.fence, ended: owner });
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = false;
    const put = async (...call: Parameters<R2Bucket["put"]>) => {
      asked = true;
      await gate;
      return env.ARCHIVE.put(...call);
    };
    await redeploy(log, { ARCHIVE: { put } as unknown as R2Bucket });
    const moving = runDurableObjectAlarm(log);
    await expect.poll(() => asked).toBe(true);
    const removed = log.remove().then(() => deleteLogs(env.ARCHIVE, owner));
    release();
    await Promise.all([moving, removed]);
    expect(await textIn(owner)).toEqual([]);
  });
});
