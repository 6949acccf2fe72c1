import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { BuildFacts, JobFacts } from "../../src/domain/pool/facts.ts";
import { actor, newBuild, type Pool, poolOf, registered, value } from "./agent-pool-support.ts";

/* The statements with which release 0.3.0 lays its tables, loads them and stores a change, word for word. */
const OPEN = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS agent (id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS build (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ended_at INTEGER, facts TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS build_under_way ON build (seq) WHERE ended_at IS NULL;
CREATE TABLE IF NOT EXISTS job (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS report (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inputs (build_id TEXT PRIMARY KEY, at INTEGER NOT NULL, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS number (repo_id TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS idempotency (caller TEXT, name TEXT, at INTEGER NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (caller, name));
CREATE TABLE IF NOT EXISTS dirty (build_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS letter (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS parked (seq INTEGER PRIMARY KEY, what TEXT NOT NULL, reason TEXT NOT NULL);
`;
const LOAD =
  "SELECT b.facts AS build, j.facts AS job FROM build b JOIN job j ON j.build_id = b.id WHERE ended_at IS NULL ORDER BY b.seq";
const REPORT =
  "INSERT INTO report VALUES (?, ?) ON CONFLICT (build_id) DO UPDATE SET facts = json_patch(facts, excluded.facts)";

interface Loaded {
  build: BuildFacts;
  job: JobFacts;
}

/** Release 0.3.0 with the rows of a pool: it keeps in memory what it read when it opened them. */
class ReleaseBefore {
  readonly #sql: SqlStorage;
  readonly active: Loaded[];

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(OPEN);
    const rows = sql.exec<{ build: string; job: string }>(LOAD).toArray();
    this.active = rows.map(({ build, job }) => ({ build: JSON.parse(build), job: JSON.parse(job) }));
  }

  store({ build, job }: Loaded, message?: string): void {
    const endedAt = build.finishedAt;
    const replace = "INSERT OR REPLACE INTO build VALUES (?, ?, ?, ?)";
    this.#sql.exec(replace, build.seq, build.id, endedAt, JSON.stringify(build));
    this.#sql.exec("INSERT OR REPLACE INTO job VALUES (?, ?)", build.id, JSON.stringify(job));
    if (message !== undefined) this.#sql.exec(REPORT, build.id, JSON.stringify({ message }));
    this.#sql.exec("INSERT OR IGNORE INTO dirty VALUES (?)", build.id);
  }

  post(letter: object): void {
    this.#sql.exec("INSERT INTO letter (body) VALUES (?)", JSON.stringify(letter));
  }
}

const asReleaseBefore = async (pool: Pool, work: (release: ReleaseBefore) => void): Promise<void> => {
  await runInDurableObject(pool, (_object, { storage }) => work(new ReleaseBefore(storage.sql)));
  await evictDurableObject(pool);
};

const inD1 = (id: string) =>
  env.DB.prepare("SELECT status, message FROM build_list WHERE id = ?").bind(id).first<Record<string, unknown>>();

it("is rolled back to with a build under way, ends it, and comes forward with all of it", async () => {
  const pool = poolOf("rolled-back");
  const speaker = await registered(pool, "rolled-back");
  const { id } = value(await pool.enqueue(newBuild("rolled-back")));
  const { fence } = value(await pool.claim({ ...speaker, bootId: "b1" }))!;
  const holder = { ...speaker, buildId: id, fence };
  value(await pool.start(holder));
  value(await pool.progress({ ...holder, summary: "half way" }));
  await asReleaseBefore(pool, (release) => {
    const [held] = release.active as [Loaded];
    expect(held.build).toMatchObject({ id, status: "running" });
    expect(held.job).toMatchObject({ fence, attempt: 1, lease: { fence } });
    const build: BuildFacts = {
      ...held.build,
      status: "failed",
      finishedAt: Date.now(),
      version: held.build.version + 1,
    };
    release.store({ build, job: { ...held.job, lease: null } }, "no more");
    release.store({ build: { ...build, leak: true, version: build.version + 1 }, job: { ...held.job, lease: null } });
    release.post({ kind: "close", buildId: id, fence });
    const entry = { at: Date.now(), actor: "system", action: "build.finish", subject: id, requestId: null, detail: {} };
    release.post({ kind: "audit", id: crypto.randomUUID(), entry });
  });
  const ended = { status: "failed", message: "no more", leak: true, summary: "half way", attempt: 1 };
  expect(value(await pool.getBuild(id))).toMatchObject(ended);
  expect(await pool.liveBuilds()).toEqual([]);
  await pool.flush();
  expect(await inD1(id)).toEqual({ status: "failed", message: "no more" });
  const audited = env.DB.prepare("SELECT action FROM audit_list WHERE subject = ? ORDER BY id").bind(id);
  expect((await audited.all()).results).toContainEqual({ action: "build.finish" });
  expect(await pool.sweep()).toMatchObject({ active: 0, outboxSeconds: 0, deadLetters: 0 });
});

it("leaves builds of its own under way, which go on, and a damaged row, which is set aside", async () => {
  const pool = poolOf("taken-over");
  const speaker = await registered(pool, "taken-over");
  const { id } = value(await pool.enqueue(newBuild("taken-over")));
  const other = crypto.randomUUID();
  const left = async (release: ReleaseBefore, sql: SqlStorage) => {
    const [{ build, job }] = release.active as [Loaded];
    const { id: _, ...jobBefore } = job;
    release.store({
      build: { ...build, id: other, seq: build.seq + 1 },
      job: { ...jobBefore, buildId: other } as JobFacts,
    });
    sql.exec("INSERT INTO build VALUES (9, 'damaged', NULL, '{')");
  };
  await runInDurableObject(pool, (_object, { storage }) => left(new ReleaseBefore(storage.sql), storage.sql));
  await evictDurableObject(pool);
  expect((await pool.liveBuilds()).map((build) => build.id)).toEqual([id, other]);
  expect(await pool.deadLetters(0, 10)).toMatchObject([{ what: "a row of build: 9", reason: "it is not JSON" }]);
  expect(value(await pool.claim({ ...speaker, bootId: "b1" }))?.buildId).toBe(id);
  value(await pool.cancel({ buildId: other, actor }));
  await pool.flush();
  expect((await inD1(other))?.status).toBe("canceled");
});

it("opened its tables before: they are folded into today's once, and a crash in between loses nothing", async () => {
  const pool = poolOf("folded");
  const made = value(await pool.enqueue(newBuild("folded")));
  await runInDurableObject(pool, (_object, { storage: { sql } }) => {
    const [{ facts = "" } = {}] = sql.exec<{ facts: string }>("SELECT facts FROM build").toArray();
    const { job, isTold: _, ...build } = JSON.parse(facts);
    sql.exec("DROP VIEW job");
    const triggers = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'trigger'").toArray();
    for (const { name } of triggers) sql.exec(`DROP TRIGGER ${name}`);
    sql.exec(OPEN);
    sql.exec("UPDATE build SET facts = ?", JSON.stringify(build));
    sql.exec("INSERT INTO job VALUES (?, ?)", build.id, JSON.stringify(job));
    sql.exec(REPORT, build.id, JSON.stringify({ message: "Attempt 1 was lost." }));
  });
  for (let opened = 0; opened < 2; opened++) {
    await evictDurableObject(pool);
    expect(value(await pool.getBuild(made.id))).toEqual({ ...made, message: "Attempt 1 was lost." });
  }
});

it("reads a lease that a socket keeps as long as its agent was promised it, and as it is once it has written it", async () => {
  const pool = poolOf("kept");
  const speaker = await registered(pool, "kept");
  const { id } = value(await pool.enqueue(newBuild("kept")));
  const { fence } = value(await pool.claim({ ...speaker, bootId: "b1" }))!;
  value(await pool.start({ ...speaker, buildId: id, fence }));
  await runInDurableObject(pool, (_object, { storage: { sql } }) => {
    sql.exec("UPDATE build SET facts = json_set(facts, '$.job.lease.keptBy', 'socket')");
    const [{ facts = "" } = {}] = sql.exec<{ facts: string }>("SELECT facts FROM build").toArray();
    const { expiresAt } = JSON.parse(facts).job.lease;
    const [held] = new ReleaseBefore(sql).active as [Loaded];
    expect(held.job.lease).toMatchObject({ fence, expiresAt: expiresAt + 300_000 });
    const renewed = { ...held.job, lease: { ...held.job.lease!, expiresAt: expiresAt + 1 } };
    new ReleaseBefore(sql).store({ ...held, job: renewed });
    const [again] = new ReleaseBefore(sql).active as [Loaded];
    expect(again.job.lease).toMatchObject({ fence, expiresAt: expiresAt + 1 });
  });
});
