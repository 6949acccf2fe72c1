import { STORED_FOR_MS } from "../domain/pool/rules.ts";

/* Folds what release 0.3.0 stored into today's rows, and lets it read and write them after a rollback. It keeps a
   table `job` beside `build`, and the tables `dirty` and `letter`. Goes with the release after this one. */

/** What 0.3.0 reads of a lease that a socket keeps: its stored deadline may be older than what the agent was promised. */
const READ_LEASE = `iif(facts ->> '$.job.lease.keptBy' = 'socket',
  json_set(facts -> '$.job', '$.lease.expiresAt', (facts ->> '$.job.lease.expiresAt') + ${STORED_FOR_MS}),
  facts -> '$.job')`;

/** What 0.3.0 wrote of a build carries the job and the message of the time when it read them: the newer ones stay. */
const KEPT = `
CREATE VIEW IF NOT EXISTS job (build_id, facts) AS
  SELECT id, ${READ_LEASE} FROM build WHERE json_valid(facts);
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

const FOLD_JOBS = `
UPDATE build SET facts = json_set(build.facts, '$.job', json(j.facts)) FROM job j
  WHERE j.build_id = build.id AND json_valid(build.facts) AND json_valid(j.facts);
UPDATE build SET facts = json_set(build.facts, '$.message', json_extract(r.facts, '$.message')) FROM report r
  WHERE r.build_id = build.id AND json_valid(build.facts) AND json_valid(r.facts)
    AND json_type(r.facts, '$.message') = 'text';
DROP TABLE job;
`;

/** Its outbox had audit entries and closes in one queue, and named the builds that D1 had to hear of. */
const FOLD_OUTBOX = `
INSERT INTO audit_outbox (body)
  SELECT json_object('id', body ->> '$.id', 'entry', json_remove(body -> '$.entry', '$.detail.variableIds'),
    'variableIds', json(coalesce(body -> '$.entry.detail.variableIds', '[]')))
  FROM letter WHERE json_valid(body) AND body ->> '$.kind' = 'audit' ORDER BY seq;
INSERT INTO log_outbox (body)
  SELECT json_object('jobId', body ->> '$.buildId', 'fence', body -> '$.fence', 'at', 0)
  FROM letter WHERE json_valid(body) AND body ->> '$.kind' = 'close' ORDER BY seq;
INSERT INTO parked (what, reason) SELECT body, 'not JSON' FROM letter WHERE NOT json_valid(body);
DELETE FROM letter;
UPDATE build SET ended_at = NULL WHERE id IN (SELECT build_id FROM dirty);
DELETE FROM dirty;
`;

/** Takes over what the release before stored, also after a rollback to it. May be repeated. */
export const foldReleaseBefore = (sql: SqlStorage): void => {
  const find = "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('job', 'letter')";
  const tables = [...sql.exec<{ name: string }>(find)].map(({ name }) => name);
  if (tables.includes("job")) sql.exec(FOLD_JOBS);
  if (tables.includes("letter")) sql.exec(FOLD_OUTBOX);
  sql.exec(KEPT);
};
