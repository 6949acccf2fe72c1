import type { AuditFact, BuildFacts, Change } from "../domain/pool/facts.ts";
import { isEnded } from "../protocol/build-states.ts";
import { LIMITS } from "../protocol/limits.ts";

export const TABLES = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS agent (id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS build (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ended_at INTEGER, facts TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS build_under_way ON build (seq) WHERE ended_at IS NULL;
CREATE TABLE IF NOT EXISTS job (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS report (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inputs (build_id TEXT PRIMARY KEY, at INTEGER NOT NULL, facts TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS inputs_large ON inputs (at) WHERE length(facts) > ${LIMITS.largeInputsCharacters};
CREATE TABLE IF NOT EXISTS number (repo_id TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS idempotency (caller TEXT, name TEXT, at INTEGER NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (caller, name));
CREATE TABLE IF NOT EXISTS dirty (build_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS letter (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS parked (seq INTEGER PRIMARY KEY, what TEXT NOT NULL, reason TEXT NOT NULL);
`;

/** Prefix of the names in `meta` of revoked tokens. */
export const REVOKED = "revoked:";

/** A change to deliver outside the pool, in order: an audit entry to D1, or the end of a lease to its log. */
export type OutboxEntry =
  | { kind: "audit"; id: string; entry: AuditFact }
  | { kind: "close"; buildId: string; fence: number };

type Write = [query: string, ...bindings: (string | number | null)[]];

const replace = (table: string, ...values: (string | number | null)[]): Write => [
  `INSERT OR REPLACE INTO ${table} VALUES (${values.map(() => "?").join(", ")})`,
  ...values,
];

const append = (entry: OutboxEntry): Write => ["INSERT INTO letter (body) VALUES (?)", JSON.stringify(entry)];

/* A report arrives in parts. A part that is null counts as absent. */
const REPORT =
  "INSERT INTO report VALUES (?, ?) ON CONFLICT (build_id) DO UPDATE SET facts = json_patch(facts, excluded.facts)";

const buildRow = (build: BuildFacts): Write =>
  replace("build", build.seq, build.id, isEnded(build.status) ? build.finishedAt : null, JSON.stringify(build));

/** The SQL statements that store a change; none for a change of memory only. */
export const writesOf = (change: Exclude<Change, { kind: "forget" }>, newId: (at: number) => string): Write[] => {
  switch (change.kind) {
    case "org":
      return [replace("meta", "org", change.orgId)];
    case "fence":
      return [replace("meta", "fence", String(change.fence))];
    case "build":
      return [buildRow(change.build)];
    case "job":
      return [replace("job", change.job.buildId, JSON.stringify(change.job))];
    case "report":
      return [[REPORT, change.buildId, JSON.stringify(change.report)]];
    case "inputs":
      return [replace("inputs", change.buildId, change.at, JSON.stringify(change.runValues))];
    case "number":
      return [replace("number", change.repoId, change.number)];
    case "key":
      return [replace("idempotency", change.caller, change.key, change.keyed.at, JSON.stringify(change.keyed))];
    case "agent":
      return [replace("agent", change.agent.id, JSON.stringify(change.agent))];
    case "agent-removed":
      return [["DELETE FROM agent WHERE id = ?", change.agentId]];
    case "revoked":
      return [replace("meta", REVOKED + change.tokenId, String(change.at))];
    case "dirty":
      return [["INSERT OR IGNORE INTO dirty VALUES (?)", change.buildId]];
    case "clean":
      return [["DELETE FROM dirty WHERE build_id = ?", change.buildId]];
    case "audit":
      return [append({ kind: "audit", id: newId(change.entry.at), entry: change.entry })];
    case "close":
      return [append({ kind: "close", buildId: change.buildId, fence: change.fence })];
    case "delivered":
      return [["DELETE FROM letter WHERE seq IN (SELECT value FROM json_each(?))", JSON.stringify(change.entries)]];
    case "contact":
    case "waiter":
    case "offer":
    case "renewal":
    case "stop-told":
    case "flush":
    case "offers-resumed":
    case "matched":
      return [];
  }
};
