import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { loadKeyring } from "../../../src/crypto/keyring.ts";
import { A, append, B, bytes, kind, type Log, newLog, opened, SECRET, stored, value } from "./support.ts";

/** The tables of 0.10.0 to 0.15.0. */
const TABLES = `
CREATE TABLE lease (
  fence INTEGER PRIMARY KEY, token_hash TEXT NOT NULL, attempt INTEGER NOT NULL, sealed TEXT,
  offset INTEGER NOT NULL, covered INTEGER NOT NULL, run INTEGER NOT NULL,
  size INTEGER NOT NULL, is_full INTEGER NOT NULL, leaked_to INTEGER NOT NULL, ended TEXT);
CREATE TABLE piece (
  fence INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL,
  at INTEGER, offset INTEGER, covered INTEGER, run INTEGER, PRIMARY KEY (fence, start)) WITHOUT ROWID;
CREATE TABLE closed (fence INTEGER NOT NULL);
`;

/** Creates a log with two leases as an earlier release left it: the second still writes, or its job has ended. */
const leftBehind = async ({ hasEnded }: { hasEnded: boolean }): Promise<Log> => {
  const log = newLog();
  await runInDurableObject(log, async (_, { id, storage: { sql } }) => {
    const context = ["build-log", id.toString(), String(B.fence)];
    const sealed = await loadKeyring(env.SECRETS_KEYS).seal(JSON.stringify([SECRET]), context);
    sql.exec(TABLES);
    const lease = "INSERT INTO lease VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0, ?)";
    sql.exec(lease, A.fence, A.tokenHash, 1, null, null);
    const ended = hasEnded ? JSON.stringify({ day: "2026-01-02", orgId: "org", jobId: "job" }) : null;
    sql.exec(lease, B.fence, B.tokenHash, 2, hasEnded ? null : sealed, ended);
    const piece = "INSERT INTO piece VALUES (?, ?, ?, 5, ?, ?, ?)";
    sql.exec(piece, A.fence, 0, bytes("first").buffer, 5, 0, 0);
    sql.exec(piece, B.fence, 0, bytes("one ").buffer, null, null, null);
    sql.exec(piece, B.fence, 4, bytes("two ").buffer, 8, 0, 0);
    if (hasEnded) sql.exec("INSERT INTO closed VALUES (?)", B.fence);
  });
  await evictDurableObject(log);
  return log;
};

const tables = (log: Log) =>
  runInDurableObject(log, (_, { storage }) =>
    storage.sql.exec("SELECT name FROM sqlite_master WHERE name IN ('lease', 'piece', 'closed')").toArray(),
  );

it("a log from an earlier release continues with its bytes, its masks and its next offset", async () => {
  const log = await leftBehind({ hasEnded: false });
  expect(await stored(log, { attempt: 1 })).toBe("first");
  expect(await stored(log)).toBe("one two ");
  expect(await tables(log)).toEqual([]);
  expect(kind(await append(log, 5, "late"))).toBe("lease-lost");
  expect(value(await append(log, 8, `pw=${SECRET}\n`, true, B)).next).toBe(27);
  expect(await stored(log)).toBe("one two pw=***\n");
  expect(await stored(log, { start: 2, end: 6 })).toBe("e tw");
  expect(await log.times({})).toEqual([
    { offset: 0, at: 5 },
    { offset: 4, at: 5 },
    { offset: 8, at: expect.any(Number) },
  ]);
  await opened([], { fence: 300, tokenHash: A.tokenHash }, 3, log);
});

it("a log that an earlier release closed stays closed", async () => {
  const log = await leftBehind({ hasEnded: true });
  const isComplete = { attempts: expect.anything(), isComplete: true };
  expect(await log.info()).toEqual(isComplete);
  expect(kind(await append(log, 8, "late", false, B))).toBe("lease-lost");
  await evictDurableObject(log);
  expect(await log.info()).toEqual(isComplete);
  expect(await log.sealedWith()).toBeNull();
  expect(kind(await log.open({ ...B, attempt: 2, secrets: [] }))).toBe("lease-lost");
});
