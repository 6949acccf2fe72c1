import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { graphJob, graphOf } from "../domain/jobs/test-build.ts";
import { newBuild, type Pool, poolOf, registered, value } from "./agent-pool-support.ts";

/* The statements with which release 0.5.0 opens a pool so that 0.3.0 may follow it, word for word. */
const OPENED_BEFORE = `
CREATE VIEW IF NOT EXISTS job (build_id, facts) AS
  SELECT id, iif(facts ->> '$.job.lease.keptBy' = 'socket',
  json_set(facts -> '$.job', '$.lease.expiresAt', (facts ->> '$.job.lease.expiresAt') + 300000),
  facts -> '$.job') FROM build WHERE json_valid(facts);
CREATE TRIGGER IF NOT EXISTS job_insert INSTEAD OF INSERT ON job BEGIN
  UPDATE build SET facts = json_set(facts, '$.job', json_remove(NEW.facts, '$.lease.keptBy')) WHERE id = NEW.build_id;
END;
CREATE TRIGGER IF NOT EXISTS job_update INSTEAD OF UPDATE ON job BEGIN
  UPDATE build SET facts = json_set(facts, '$.job', json_remove(NEW.facts, '$.lease.keptBy')) WHERE id = NEW.build_id;
END;
CREATE TRIGGER IF NOT EXISTS job_delete INSTEAD OF DELETE ON job BEGIN
  SELECT 1;
END;
CREATE TABLE IF NOT EXISTS kept (id TEXT PRIMARY KEY, job TEXT, message TEXT) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS build_keep BEFORE INSERT ON build BEGIN
  INSERT OR REPLACE INTO kept SELECT id, json_extract(facts, '$.job'), json_extract(facts, '$.message')
    FROM build WHERE id = NEW.id AND json_valid(facts);
END;
CREATE TRIGGER IF NOT EXISTS build_kept AFTER INSERT ON build WHEN EXISTS (SELECT 1 FROM kept WHERE id = NEW.id) BEGIN
  UPDATE build SET facts = json_set(facts, '$.job', json((SELECT job FROM kept WHERE id = NEW.id)),
    '$.message', (SELECT message FROM kept WHERE id = NEW.id)) WHERE id = NEW.id;
  DELETE FROM kept WHERE id = NEW.id;
END;
CREATE TRIGGER IF NOT EXISTS report_tells AFTER INSERT ON report WHEN json_type(NEW.facts, '$.message') = 'text' BEGIN
  UPDATE build SET facts = json_set(facts, '$.message', json_extract(NEW.facts, '$.message')) WHERE id = NEW.build_id;
END;
CREATE TRIGGER IF NOT EXISTS report_tells_again AFTER UPDATE ON report
  WHEN json_type(NEW.facts, '$.message') = 'text'
    AND json_extract(NEW.facts, '$.message') IS NOT json_extract(OLD.facts, '$.message') BEGIN
  UPDATE build SET facts = json_set(facts, '$.message', json_extract(NEW.facts, '$.message')) WHERE id = NEW.build_id;
END;
`;
/** What a pool of 0.3.0 has besides, which 0.5.0 emptied. */
const EMPTIED = `
CREATE TABLE IF NOT EXISTS dirty (build_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS letter (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);
`;

const OF_BEFORE = ["job", "job_insert", "job_update", "job_delete", "kept", "build_keep", "build_kept"];
const OF_BEFORE_TOO = ["report_tells", "report_tells_again", "letter", "dirty"];

const namesIn = (sql: SqlStorage): string[] =>
  [...sql.exec<{ name: string }>("SELECT name FROM sqlite_master")].map(({ name }) => name);

/** A pool with a build under way of one job, and one of several. */
const poolWithBuilds = async (orgId: string) => {
  const pool = poolOf(orgId);
  const speaker = await registered(pool, orgId);
  const one = value(await pool.enqueue(newBuild(orgId)));
  const { fence } = value(await pool.claim({ ...speaker, bootId: "b1" }))!;
  const holder = { ...speaker, buildId: one.id, fence };
  value(await pool.start(holder));
  value(await pool.progress({ ...holder, summary: "half way" }));
  const graph = graphOf([{ ...graphJob("test"), id: crypto.randomUUID() }], {
    hash: "text",
    commitSha: "a".repeat(40),
  });
  const planned = { graph, text: "jobs: {}", adopted: {} };
  const several = value(await pool.enqueue(newBuild(orgId, { pipelineId: null, planned })));
  return { pool, ids: [one.id, several.id] };
};

const read = async (pool: Pool, ids: string[]) => Promise.all(ids.map(async (id) => value(await pool.getBuild(id))));

it("drops what the release before kept for the one before it, also after a rollback, and loses no build", async () => {
  const { pool, ids } = await poolWithBuilds("opened-before");
  const known = await read(pool, ids);
  for (let times = 0; times < 2; times++) {
    await runInDurableObject(pool, (_object, { storage: { sql } }) => {
      sql.exec(OPENED_BEFORE);
      sql.exec(EMPTIED);
      expect(namesIn(sql)).toEqual(expect.arrayContaining([...OF_BEFORE, ...OF_BEFORE_TOO]));
      expect([...sql.exec("SELECT build_id FROM job ORDER BY build_id")]).toHaveLength(2);
    });
    await evictDurableObject(pool);
    expect(await read(pool, ids)).toEqual(known);
    const names = await runInDurableObject(pool, (_object, { storage }) => namesIn(storage.sql));
    expect(names.filter((name) => [...OF_BEFORE, ...OF_BEFORE_TOO].includes(name))).toEqual([]);
  }
  expect(await pool.sweep()).toMatchObject({ deadLetters: 0 });
});

it("leaves the tables of a pool that no release since 0.3.0 has opened", async () => {
  const pool = poolOf("never-opened");
  value(await pool.enqueue(newBuild("never-opened")));
  await runInDurableObject(pool, (_object, { storage: { sql } }) => {
    sql.exec(EMPTIED);
    sql.exec("CREATE TABLE job (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID");
  });
  await evictDurableObject(pool);
  expect(await pool.liveBuilds()).toHaveLength(1);
  const names = await runInDurableObject(pool, (_object, { storage }) => namesIn(storage.sql));
  expect(names).toEqual(expect.arrayContaining(["job", "letter", "dirty"]));
});
