import { LIMITS } from "../../protocol/limits.ts";
import type { AuditFact } from "../../queue/commands/commands.ts";
import type { Change, MemoryChange } from "../../queue/state/facts.ts";

/*
 * A build's row has its facts, its first job's facts, its report, and the undelivered audit entries. The table `report`
 * has reports of releases 0.10.0 to 0.15.0. `ended_at` is set once the pool has notified all others of the build's end.
 * A deletion's row is a tombstone: `is_done` says that nothing of the build is left elsewhere.
 */
export const POOL_TABLES = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS agent (id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS build (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ended_at INTEGER, facts TEXT NOT NULL, report TEXT, audit TEXT);
CREATE INDEX IF NOT EXISTS build_under_way ON build (seq) WHERE ended_at IS NULL;
CREATE TABLE IF NOT EXISTS report (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inputs (build_id TEXT PRIMARY KEY, at INTEGER NOT NULL, facts TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS inputs_large ON inputs (at) WHERE length(facts) > ${LIMITS.largeInputsCharacters};
CREATE TABLE IF NOT EXISTS number (repo_id TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS idempotency (caller TEXT, name TEXT, at INTEGER NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (caller, name));
CREATE TABLE IF NOT EXISTS delivery (connection TEXT, id TEXT, at INTEGER NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (connection, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS head (pipeline TEXT, ref TEXT, purpose TEXT, at INTEGER NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (pipeline, ref, purpose)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audit_outbox (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS log_outbox (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS deletion (build_id TEXT PRIMARY KEY, at INTEGER NOT NULL, is_done INTEGER NOT NULL, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deletion_pending ON deletion (at) WHERE is_done = 0;
CREATE TABLE IF NOT EXISTS parked (seq INTEGER PRIMARY KEY, what TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER);
`;

/** Adds this release's columns to the tables of an earlier release. */
export const addColumns = (sql: SqlStorage): void => {
  for (const table of ["build", "build_job"]) {
    const columns = sql.exec<{ name: string }>("SELECT name FROM pragma_table_info(?)", table).toArray();
    for (const column of ["report", "audit"])
      if (!columns.some(({ name }) => name === column)) sql.exec(`ALTER TABLE ${table} ADD COLUMN ${column} TEXT`);
  }
};

/** The prefix of revoked tokens' names in `meta`. */
export const REVOKED = "revoked:";

/** The name in `meta` of the growing counters, and the two names that 0.10.0 to 0.15.0 used. */
export const COUNTERS = "counters";
export const EARLIER_COUNTERS = ["fence", "told"];

export interface Counters {
  fence: number;
  /** The highest sequence that D1 has, as far as the pool knows. */
  told: number;
}

/** An entry on its way to D1's audit. If the entry records a hand-out, the entry has the variables. */
export interface AuditOutboxEntry {
  id: string;
  entry: AuditFact;
  variableIds?: string[] | undefined;
}

/** A log to close, either because a lease is over, or for good. */
export interface LogOutboxEntry {
  jobId: string;
  fence: number;
  at: number;
  /** When the job ended; absent if only its lease is over. */
  endedAt?: number | undefined;
}

type Write = [query: string, ...bindings: (string | number | null)[]];

const replace = (table: string, ...values: (string | number | null)[]): Write => [
  `INSERT OR REPLACE INTO ${table} VALUES (${values.map(() => "?").join(", ")})`,
  ...values,
];

export const append = (queue: "audit_outbox" | "log_outbox", entry: AuditOutboxEntry | LogOutboxEntry): Write => [
  `INSERT INTO ${queue} (body) VALUES (?)`,
  JSON.stringify(entry),
];

const remove = (queue: "audit_outbox" | "log_outbox", entries: number[]): Write => [
  `DELETE FROM ${queue} WHERE seq IN (SELECT value FROM json_each(?))`,
  JSON.stringify(entries),
];

const headWrites = ({ key, heads, at }: Change & { kind: "heads" }): Write[] => {
  const { pipelineId, ref, purpose } = key;
  return heads.length > 0
    ? [replace("head", pipelineId, ref, purpose, at, JSON.stringify(heads))]
    : [["DELETE FROM head WHERE pipeline = ? AND ref = ? AND purpose = ?", pipelineId, ref, purpose]];
};

type DeletionChange = Extract<Change, { kind: "deleted" | "deletions-done" }>;

/** Returns the SQL statements that store a deletion, or that the pool carried it out. */
const deletionWrites = (change: DeletionChange): Write[] => {
  if (change.kind === "deletions-done") {
    const done = "UPDATE deletion SET is_done = 1 WHERE build_id IN (SELECT value FROM json_each(?))";
    return [[done, JSON.stringify(change.buildIds)]];
  }
  const { deletion } = change;
  const { buildId, deleted, at } = deletion;
  const row: Write = ["INSERT OR REPLACE INTO deletion VALUES (?, ?, 0, ?)", buildId, at, JSON.stringify(deletion)];
  if (deleted === "log")
    return [
      row,
      ["UPDATE report SET facts = json_remove(facts, '$.failedLine') WHERE build_id = ?", buildId],
      ["UPDATE build SET report = json_remove(report, '$.failedLine') WHERE id = ? AND report IS NOT NULL", buildId],
    ];
  return [
    row,
    ["DELETE FROM build WHERE id = ?", buildId],
    ["DELETE FROM report WHERE build_id = ?", buildId],
    ["DELETE FROM inputs WHERE build_id = ?", buildId],
  ];
};

/** A change to the rows of a build, its jobs, a report or the audit. Such a change takes more than one statement. */
type BuildChange = Extract<Change, { kind: "build" | "job" | "graph" | "outputs" | "report" | "audit" | "forget" }>;

const BUILD_CHANGES: ReadonlySet<Change["kind"]> = new Set([
  "build",
  "job",
  "graph",
  "outputs",
  "report",
  "audit",
  "forget",
]);

export const isBuildChange = (change: Change): change is BuildChange => BUILD_CHANGES.has(change.kind);

/** Returns the SQL statements that store a change; none if the change is only in memory. */
export const toWrites = (change: Exclude<Change, BuildChange>): Write[] => {
  switch (change.kind) {
    case "org":
      return [replace("meta", "org", change.orgId)];
    case "inputs":
      return [replace("inputs", change.buildId, change.at, JSON.stringify(change.runValues))];
    case "number":
      return [replace("number", change.repoId, change.number)];
    case "day-count":
      return [replace("meta", "day-count", JSON.stringify(change.count))];
    case "key":
      return [replace("idempotency", change.caller, change.key, change.keyed.at, JSON.stringify(change.keyed))];
    case "heads":
      return headWrites(change);
    case "delivery": {
      const { connectionId, deliveryId, known } = change;
      return [replace("delivery", connectionId, deliveryId, known.at, JSON.stringify(known.arrived))];
    }
    case "agent":
      return [replace("agent", change.agent.id, JSON.stringify(change.agent))];
    case "agent-removed":
      return [["DELETE FROM agent WHERE id = ?", change.agentId]];
    case "revoked":
      return [replace("meta", REVOKED + change.tokenId, String(change.at))];
    case "fence":
    case "told":
      return [];
    case "unchecked":
      return [replace("meta", "unchecked", String(change.sequence))];
    case "compared":
      return [["DELETE FROM meta WHERE name = 'unchecked'"]];
    case "tell-again":
      return change.after === null
        ? [["DELETE FROM meta WHERE name = 'tell-again'"]]
        : [replace("meta", "tell-again", JSON.stringify({ after: change.after, at: change.at }))];
    case "untold":
      return [
        ["UPDATE build SET ended_at = NULL, facts = json_remove(facts, '$.isTold') WHERE id = ?", change.buildId],
      ];
    case "heard":
      return [["UPDATE build SET ended_at = ?, audit = NULL WHERE id = ?", change.endedAt, change.buildId]];
    case "close": {
      const { kind: _, ...entry } = change;
      return [append("log_outbox", entry)];
    }
    case "deleted":
    case "deletions-done":
      return deletionWrites(change);
    case "entries-delivered":
      return [remove(change.channel === "lists" ? "audit_outbox" : "log_outbox", change.entries)];
    default:
      change satisfies MemoryChange;
      return [];
  }
};
