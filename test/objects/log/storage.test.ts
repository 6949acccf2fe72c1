import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { LogResult } from "../../../src/objects/log/turns.ts";
import {
  A,
  alarmOf,
  append,
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

/** Bytes of a database without a table. */
const EMPTY = 4096;

describe("the disk of a log", () => {
  it("holds nothing of a log that was only asked for", async () => {
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

  it("holds nothing of a log that was purged, also right after somebody followed it to its end", async () => {
    const log = await opened();
    await append(log, 0, "abc", true);
    await log.close({ fence: 100, ended: { day: "2026-01-02" } });
    expect(textOf(await events(await follow(log)))).toBe("abc");
    await log.purge();
    expect(await stored(log)).toBe("");
    await expectNothing(log);
  });

  it("is forgotten an hour after the close of a log that no lease wrote", async () => {
    const log = newLog();
    await log.close({ fence: 100 });
    expect(kind((await log.open({ ...A, attempt: 1, secrets: [] })) as LogResult<null>)).toBe("lease-lost");
    expect(await alarmOf(log)).toBeGreaterThan(Date.now() + 55 * 60_000);
    await runDurableObjectAlarm(log);
    await expectNothing(log);
  });

  it("gets one row for each chunk, and none for a repeated one", async () => {
    const log = await opened();
    const [before] = await rows(log, "SELECT * FROM lease");
    expect(value(await append(log, 0, "one ")).next).toBe(4);
    expect(value(await append(log, 4, "two hunter2-")).next).toBe(8);
    expect(value(await append(log, 4, "two hunter2-")).next).toBe(8);
    expect(await rows(log, "SELECT * FROM lease")).toEqual([before]);
    expect(await rows(log, "SELECT start, offset, length(bytes) AS size FROM piece")).toEqual([
      { start: 0, offset: 4, size: 4 },
      { start: 4, offset: 8, size: 4 },
    ]);
  });

  it("knows when each piece was stored", async () => {
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

const expectNothing = async (log: Log) => {
  expect(await rows(log, "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")).toEqual([]);
  expect(await runInDurableObject(log, (_, { storage }) => storage.sql.databaseSize)).toBeLessThanOrEqual(EMPTY);
  expect(await alarmOf(log)).toBeNull();
};
