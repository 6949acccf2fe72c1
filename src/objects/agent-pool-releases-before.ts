/* Releases 0.4.0 and 0.5.0 let 0.3.0 read and write their rows: by a view `job`, triggers, and the tables of 0.3.0 that
   they had emptied. 0.5.0 makes view and triggers anew when it starts. Goes with the release after this one. */

const LEFT = `
DROP VIEW job;
DROP TRIGGER IF EXISTS build_keep;
DROP TRIGGER IF EXISTS build_kept;
DROP TRIGGER IF EXISTS report_tells;
DROP TRIGGER IF EXISTS report_tells_again;
DROP TABLE IF EXISTS kept;
DROP TABLE IF EXISTS letter;
DROP TABLE IF EXISTS dirty;
`;

/** Drops what only a rollback to 0.3.0 needed, where a release since then opened the pool. May be repeated. */
export const dropReleasesBefore = (sql: SqlStorage): void => {
  const find = "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = 'job'";
  if (sql.exec(find).toArray().length > 0) sql.exec(LEFT);
};
