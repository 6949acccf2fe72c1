/*
 * A lease writes one row of `lease` when it begins and ends, and one of `piece` for each chunk: the piece says where
 * the masker continues. The release before knows the views: it may open such a log again, and write to it.
 */
export const TABLES = `
CREATE TABLE IF NOT EXISTS lease (
  fence INTEGER PRIMARY KEY, token_hash TEXT NOT NULL, attempt INTEGER NOT NULL, sealed TEXT,
  offset INTEGER NOT NULL, covered INTEGER NOT NULL, run INTEGER NOT NULL,
  size INTEGER NOT NULL, is_full INTEGER NOT NULL, leaked_to INTEGER NOT NULL, ended TEXT);
CREATE TABLE IF NOT EXISTS piece (
  fence INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL,
  at INTEGER, offset INTEGER, covered INTEGER, run INTEGER, PRIMARY KEY (fence, start)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS closed (fence INTEGER NOT NULL);
`;

/** Makes the tables of the release before into today's. Copies no bytes of the log. */
export const TAKE_OVER = `
ALTER TABLE segment RENAME TO lease;
ALTER TABLE lease ADD COLUMN ended TEXT;
ALTER TABLE chunk RENAME TO piece;
ALTER TABLE piece ADD COLUMN at INTEGER;
ALTER TABLE piece ADD COLUMN offset INTEGER;
ALTER TABLE piece ADD COLUMN covered INTEGER;
ALTER TABLE piece ADD COLUMN run INTEGER;
`;

/* Of a lease's row and its last piece, the one with the higher offset is the later. */
export const VIEWS = `
CREATE VIEW IF NOT EXISTS segment AS
  SELECT l.fence, l.token_hash, l.attempt, l.sealed,
    iif(p.offset > l.offset, p.offset, l.offset) AS offset,
    iif(p.offset > l.offset, p.covered, l.covered) AS covered,
    iif(p.offset > l.offset, p.run, l.run) AS run,
    max(l.size, coalesce(p.start + length(p.bytes), 0)) AS size, l.is_full, l.leaked_to
  FROM lease l LEFT JOIN piece p
    ON p.fence = l.fence AND p.start = (SELECT max(start) FROM piece WHERE fence = l.fence);
CREATE VIEW IF NOT EXISTS chunk AS SELECT fence, start, bytes FROM piece;
CREATE TRIGGER IF NOT EXISTS segment_insert INSTEAD OF INSERT ON segment BEGIN
  INSERT OR REPLACE INTO lease VALUES (NEW.fence, NEW.token_hash, NEW.attempt, NEW.sealed, NEW.offset, NEW.covered,
    NEW.run, NEW.size, NEW.is_full, NEW.leaked_to, NULL);
END;
CREATE TRIGGER IF NOT EXISTS segment_update INSTEAD OF UPDATE ON segment BEGIN
  UPDATE lease SET sealed = NEW.sealed WHERE fence = NEW.fence;
END;
CREATE TRIGGER IF NOT EXISTS chunk_insert INSTEAD OF INSERT ON chunk BEGIN
  INSERT INTO piece (fence, start, bytes) VALUES (NEW.fence, NEW.start, NEW.bytes);
END;
`;
