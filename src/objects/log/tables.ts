/*
 * A lease writes one row of `lease` when it begins and ends, and one of `piece` for each chunk: the piece says where
 * the masker continues. Of the row and its last piece, the one with the higher offset is the later.
 */
export const LOG_TABLES = `
CREATE TABLE IF NOT EXISTS lease (
  fence INTEGER PRIMARY KEY, token_hash TEXT NOT NULL, attempt INTEGER NOT NULL, sealed TEXT,
  offset INTEGER NOT NULL, covered INTEGER NOT NULL, run INTEGER NOT NULL,
  size INTEGER NOT NULL, is_full INTEGER NOT NULL, leaked_to INTEGER NOT NULL, ended TEXT);
CREATE TABLE IF NOT EXISTS piece (
  fence INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL,
  at INTEGER, offset INTEGER, covered INTEGER, run INTEGER, PRIMARY KEY (fence, start)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS closed (fence INTEGER NOT NULL);
`;

/** The segment of each lease. It is no view: a view would cost each log two rows. */
export const SEGMENTS = `(
  SELECT l.fence, l.token_hash, l.attempt, l.sealed,
    iif(p.offset > l.offset, p.offset, l.offset) AS offset,
    iif(p.offset > l.offset, p.covered, l.covered) AS covered,
    iif(p.offset > l.offset, p.run, l.run) AS run,
    max(l.size, coalesce(p.start + length(p.bytes), 0)) AS size, l.is_full, l.leaked_to
  FROM lease l LEFT JOIN piece p
    ON p.fence = l.fence AND p.start = (SELECT max(start) FROM piece WHERE fence = l.fence))`;
