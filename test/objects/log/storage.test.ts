import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { LogResult } from "../../../src/objects/log/turns.ts";
import {
  A,
  alarmOf,
  append,
  bytes,
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

const rows = (log: Log, query: string) =>
  runInDurableObject(log, (_, { storage }) => storage.sql.exec(query).toArray());

const values = (log: Log, prefix: string): Promise<[string, unknown][]> =>
  runInDurableObject(log, (_, { storage }) => [...storage.kv.list({ prefix })]);

/** Bytes of a database without tables. */
const EMPTY = 4096;

describe("the disk of a log", () => {
  it("holds nothing for a log that was only requested", async () => {
    const log = newLog();
    expect(await stored(log)).toBe("");
    expect(await log.info()).toEqual({ attempts: [], isComplete: false });
    expect(await log.sealedWith()).toBeNull();
    expect(value((await log.rewrap()) as LogResult<unknown>)).toEqual({ keyId: null, isChanged: false });
    expect(await log.times({})).toBeNull();
    expect(kind(await append(log, 0, "x"))).toBe("lease-lost");
    const reader = await follow(log);
    await log.close({ fence: 0 });
    expect(await events(reader)).toBe("event: end\ndata: null\n\n");
    await expectNothing(log);
  });

  it("holds nothing for a purged log, even right after somebody followed it to its end", async () => {
    const log = await opened();
    await append(log, 0, "abc", true);
    await log.close({ fence: 100, ended: { day: "2026-01-02" } });
    expect(textOf(await events(await follow(log)))).toBe("abc");
    await log.purge();
    expect(await stored(log)).toBe("");
    await expectNothing(log);
  });

  it("is deleted an hour after the close of a log that no lease wrote", async () => {
    const log = newLog();
    await log.close({ fence: 100 });
    expect(kind((await log.open({ ...A, attempt: 1, secrets: [] })) as LogResult<null>)).toBe("lease-lost");
    expect(await alarmOf(log)).toBeGreaterThan(Date.now() + 55 * 60_000);
    await runDurableObjectAlarm(log);
    await expectNothing(log);
  });

  it("gets one value for each chunk, and none for a repeated one", async () => {
    const log = await opened();
    const before = await values(log, "lease/");
    expect(value(await append(log, 0, "one ")).next).toBe(4);
    expect(value(await append(log, 4, "two hunter2-")).next).toBe(8);
    expect(value(await append(log, 4, "two hunter2-")).next).toBe(8);
    expect(await values(log, "lease/")).toEqual(before);
    const [first, second] = await values(log, "piece/");
    expect(first).toEqual([expect.stringMatching(/0000100\/0+0$/), pieceOf("one ", 4)]);
    expect(second).toEqual([expect.stringMatching(/0000100\/0+4$/), pieceOf("two ", 8)]);
    expect(await values(log, "piece/")).toHaveLength(2);
  });

  it("gets one value for the end of a job, which closes it and deletes its secrets", async () => {
    const log = await opened();
    await append(log, 0, "abc", true);
    const names = async () => (await values(log, "")).map(([name]) => name);
    const before = await names();
    await log.close({ fence: 100, ended: { day: "2026-01-02" } });
    expect(await names()).toEqual(before);
    const [[, lease]] = (await values(log, "lease/")) as [[string, Record<string, unknown>]];
    expect(lease).toMatchObject({ sealed: null, closed: 100, ended: { day: "2026-01-02" } });
    expect(kind(await append(log, 3, "x"))).toBe("lease-lost");
  });

  it("records when each piece was stored", async () => {
    const log = await opened([]);
    const from = Date.now();
    await append(log, 0, "one\n");
    await append(log, 4, "two\n");
    const times = await log.times({});
    expect(times?.map(({ offset }) => offset)).toEqual([0, 4]);
    for (const { at } of times ?? []) expect(at).toBeGreaterThanOrEqual(from);
    expect(await log.times({ attempt: 2 })).toBeNull();
  });
});

const pieceOf = (text: string, offset: number) => ({
  bytes: bytes(text),
  at: expect.any(Number),
  position: expect.objectContaining({ offset }),
});

const expectNothing = async (log: Log) => {
  expect(await rows(log, "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")).toEqual([]);
  expect(await runInDurableObject(log, (_, { storage }) => storage.sql.databaseSize)).toBeLessThanOrEqual(EMPTY);
  expect(await alarmOf(log)).toBeNull();
};
