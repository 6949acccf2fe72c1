import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogResult } from "../../src/objects/build-log-turns.ts";
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
  SECRET,
  stored,
  textOf,
  value,
} from "./build-log-support.ts";

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

/** What release 0.3.0 runs: its tables, and its way to append masked bytes and to close. */
const RELEASE_0_3_0 = `
  CREATE TABLE IF NOT EXISTS segment (
    fence INTEGER PRIMARY KEY, token_hash TEXT NOT NULL, attempt INTEGER NOT NULL, sealed TEXT,
    offset INTEGER NOT NULL, covered INTEGER NOT NULL, run INTEGER NOT NULL,
    size INTEGER NOT NULL, is_full INTEGER NOT NULL, leaked_to INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS chunk (
    fence INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (fence, start)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS closed (fence INTEGER NOT NULL);`;

const earlier = {
  save: (sql: SqlStorage, row: Record<string, SqlStorageValue>) => {
    sql.exec(
      "INSERT OR REPLACE INTO segment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...Object.values(row).slice(0, 10),
    );
  },
  open: (log: Log) =>
    runInDurableObject(log, (_, { storage: { sql } }) => {
      sql.exec(RELEASE_0_3_0);
      sql.exec("INSERT OR REPLACE INTO segment VALUES (?, ?, 1, NULL, 0, -1, 0, 0, 0, 0)", A.fence, A.tokenHash);
    }),
  append: (log: Log, text: string) =>
    runInDurableObject(log, (_, { storage: { sql } }) => {
      sql.exec(RELEASE_0_3_0);
      const row = sql.exec("SELECT * FROM segment ORDER BY fence DESC LIMIT 1").one();
      const { size } = sql.exec<{ size: number }>("SELECT sum(size) AS size FROM segment").one();
      sql.exec("INSERT INTO chunk VALUES (?, ?, ?)", row.fence, size, bytes(text).buffer);
      const offset = Number(row.offset) + text.length;
      earlier.save(sql, { ...row, offset, size: size + text.length });
      return offset;
    }),
  read: (log: Log) =>
    runInDurableObject(log, (_, { storage: { sql } }) => {
      sql.exec(RELEASE_0_3_0);
      const all = sql.exec<{ bytes: ArrayBuffer }>(
        `SELECT start, bytes FROM chunk WHERE fence = ?1 AND start < ?3 AND start >=
           (SELECT coalesce(max(start), 0) FROM chunk WHERE fence = ?1 AND start <= ?2) ORDER BY start`,
        ...[A.fence, 0, 1e9],
      );
      return [...all].map((row) => new TextDecoder().decode(row.bytes)).join("");
    }),
};

describe("a log of the release before", () => {
  it("is taken over as it is, and can be given back and forth without a byte lost or doubled", async () => {
    const turns = fc.array(fc.record({ isEarlier: fc.boolean(), size: fc.integer({ min: 1, max: 9 }) }), {
      minLength: 2,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(turns, fc.boolean(), async (history, beginsEarlier) => {
        const log = newLog();
        if (beginsEarlier) await earlier.open(log);
        else await opened([], A, 1, log);
        let text = "";
        for (const { isEarlier, size } of history) {
          const more = "abcdefghi".slice(0, size);
          await evictDurableObject(log);
          const next = isEarlier ? await earlier.append(log, more) : value(await append(log, text.length, more)).next;
          text += more;
          expect(next).toBe(text.length);
        }
        expect(await earlier.read(log)).toBe(text);
        await evictDurableObject(log);
        expect(await stored(log)).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  it("shows the release before where the masker continues", async () => {
    const log = await opened([SECRET]);
    expect(value(await append(log, 0, "pw=hunter2-")).next).toBe(3);
    const masker = await runInDurableObject(log, (_, { storage: { sql } }) => {
      sql.exec(RELEASE_0_3_0);
      return sql.exec("SELECT offset, covered, run, size FROM segment").one();
    });
    expect(masker).toEqual({ offset: 3, covered: -1, run: 0, size: 3 });
  });

  it("leaves nothing of tables that it made for a mere question", async () => {
    const log = newLog();
    await runInDurableObject(log, (_, { storage }) => storage.sql.exec(RELEASE_0_3_0));
    await evictDurableObject(log);
    await log.archive({ day: "2026-01-02" });
    await expectNothing(log);
  });
});
