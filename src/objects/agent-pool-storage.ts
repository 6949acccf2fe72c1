import { apply } from "../domain/pool/apply.ts";
import type { RunValues } from "../domain/pool/commands.ts";
import {
  type AgentFacts,
  type BuildFacts,
  type Change,
  type JobFacts,
  type KeyedBuild,
  NO_REPORT,
  type Records,
  type Report,
} from "../domain/pool/facts.ts";
import type { DiskNumbers } from "../domain/pool/numbers.ts";
import { emptyState, type PoolState } from "../domain/pool/state.ts";
import { isEnded } from "../protocol/build-states.ts";
import { LIMITS } from "../protocol/limits.ts";
import { type OutboxEntry, REVOKED, TABLES, writesOf } from "./agent-pool-tables.ts";

/** Builds that may still be handed out: without its row of `inputs`, a run would lose its values. */
const ACTIVE = "SELECT id FROM build WHERE ended_at IS NULL";
/** Rows that one cleanup deletes from a table at most, so that it never blocks the queue. */
const FORGET_LIMIT = 500;

export interface BuildRecord {
  build: BuildFacts;
  job: JobFacts;
  report: Report;
}

type Row = Record<string, string | null>;

/** The pool's tables in its SQLite database: facts as JSON, one row each. */
export class PoolStorage implements Records {
  readonly #sql: SqlStorage;
  readonly #newId: (at: number) => string;
  readonly #runValuesMs: () => number;

  /** `runValuesMs`: how long the values of a run are kept after its build was queued. */
  constructor(sql: SqlStorage, newId: (at: number) => string, runValuesMs: () => number) {
    this.#sql = sql;
    this.#newId = newId;
    this.#runValuesMs = runValuesMs;
    sql.exec(TABLES);
  }

  /** The state after the last committed transaction. */
  load(now: number): PoolState {
    const state = emptyState(this);
    const changes: Change[] = [];
    for (const { name, value } of this.#rows("SELECT name, value FROM meta")) {
      if (name === "org") changes.push({ kind: "org", orgId: value! });
      if (name === "fence") changes.push({ kind: "fence", fence: Number(value) });
      const [, tokenId] = name!.split(REVOKED);
      if (tokenId) changes.push({ kind: "revoked", tokenId, at: Number(value) });
    }
    for (const { facts } of this.#rows("SELECT facts FROM agent ORDER BY id")) {
      changes.push({ kind: "agent", agent: JSON.parse(facts!) as AgentFacts });
    }
    const active =
      "SELECT b.facts AS build, j.facts AS job FROM build b JOIN job j ON j.build_id = b.id WHERE ended_at IS NULL ORDER BY b.seq";
    for (const { build, job } of this.#rows(active)) {
      changes.push({ kind: "build", build: JSON.parse(build!) }, { kind: "job", job: JSON.parse(job!) });
    }
    for (const { build_id } of this.#rows("SELECT build_id FROM dirty")) {
      changes.push({ kind: "dirty", buildId: build_id!, at: now });
    }
    if (state.pendingEntries > 0) changes.push({ kind: "flush", at: now, failures: 0 });
    apply(state, changes);
    return state;
  }

  store(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === "forget") this.#deleteBefore(change.before);
      else for (const [query, ...bindings] of writesOf(change, this.#newId)) this.#write(query, ...bindings);
      if (change.kind === "inputs" && JSON.stringify(change.runValues).length > LIMITS.largeInputsCharacters) {
        this.#deleteLargeRunValues();
      }
    }
  }

  /** Deletes what no request may read any more. A build that D1 does not have yet is kept. */
  #deleteBefore(before: number): void {
    const old = `SELECT id FROM build WHERE ended_at < ${before} AND id NOT IN (SELECT build_id FROM dirty) LIMIT ${FORGET_LIMIT}`;
    const ids = JSON.stringify(this.#rows(old).map((row) => row.id));
    for (const table of ["job", "report"]) {
      this.#write(`DELETE FROM ${table} WHERE build_id IN (SELECT value FROM json_each(?))`, ids);
    }
    this.#write("DELETE FROM build WHERE id IN (SELECT value FROM json_each(?))", ids);
    this.#write("DELETE FROM idempotency WHERE at < ?", before);
    this.#write("DELETE FROM meta WHERE name LIKE ? AND CAST(value AS INTEGER) < ?", `${REVOKED}%`, before);
    const oldest = `SELECT rowid FROM inputs WHERE build_id NOT IN (${ACTIVE}) ORDER BY rowid LIMIT ?`;
    this.#write(`DELETE FROM inputs WHERE rowid IN (${oldest}) AND at < ?`, FORGET_LIMIT, before - this.#runValuesMs());
  }

  /** Deletes the large run values of the oldest ended builds, so that they never fill the disk. */
  #deleteLargeRunValues(): void {
    const older = `SELECT build_id FROM inputs WHERE length(facts) > ${LIMITS.largeInputsCharacters} ORDER BY at DESC LIMIT -1 OFFSET ${LIMITS.largeInputsKept}`;
    this.#write(`DELETE FROM inputs WHERE build_id IN (${older}) AND build_id NOT IN (${ACTIVE})`);
  }

  ended(buildId: string): { build: BuildFacts; job: JobFacts } | undefined {
    const found = this.buildRecord(buildId);
    return found && isEnded(found.build.status) ? found : undefined;
  }

  keyed(caller: string, key: string): KeyedBuild | undefined {
    const [row] = this.#rows("SELECT facts FROM idempotency WHERE caller = ? AND name = ?", caller, key);
    return row && (JSON.parse(row.facts!) as KeyedBuild);
  }

  lastNumber(repoId: string): number {
    const [row] = this.#rows("SELECT last FROM number WHERE repo_id = ?", repoId);
    return Number(row?.last ?? 0);
  }

  lastSeq(): number {
    const [row] = this.#rows("SELECT max(seq) AS last FROM build");
    return Number(row?.last ?? 0);
  }

  pendingEntries(): number {
    return Number(this.#rows("SELECT count(*) AS count FROM letter")[0]?.count ?? 0);
  }

  /** A build that is active, or that ended within 24 hours. */
  buildRecord(buildId: string): BuildRecord | undefined {
    return this.#records("b.id = ?", buildId)[0];
  }

  activeBuildRecords(): BuildRecord[] {
    return this.#records("b.ended_at IS NULL ORDER BY b.seq");
  }

  buildRecords(buildIds: string[]): BuildRecord[] {
    return this.#records("b.id IN (SELECT value FROM json_each(?))", JSON.stringify(buildIds));
  }

  #records(where: string, ...bindings: unknown[]): BuildRecord[] {
    const query = `SELECT b.facts AS build, j.facts AS job, r.facts AS report FROM build b
      JOIN job j ON j.build_id = b.id LEFT JOIN report r ON r.build_id = b.id WHERE ${where}`;
    return this.#rows(query, ...bindings).map(({ build, job, report }) => ({
      build: JSON.parse(build!),
      job: JSON.parse(job!),
      report: { ...NO_REPORT, ...JSON.parse(report ?? "{}") },
    }));
  }

  runValues(buildId: string): RunValues | undefined {
    const [row] = this.#rows("SELECT facts FROM inputs WHERE build_id = ?", buildId);
    return row && (JSON.parse(row.facts!) as RunValues);
  }

  /** Outbox entries that are not delivered yet, the oldest first. */
  outboxEntries(limit: number): { seq: number; entry: OutboxEntry }[] {
    const pending = this.#rows("SELECT seq, body FROM letter ORDER BY seq LIMIT ?", limit);
    return pending.map(({ seq, body }) => ({ seq: Number(seq), entry: JSON.parse(body!) }));
  }

  /** Keeps what can never be delivered, with the reason, for people to read. */
  addDeadLetter(what: string, reason: string): void {
    this.#write("INSERT INTO parked (what, reason) VALUES (?, ?)", what, reason);
  }

  numbers(): DiskNumbers {
    return { deadLetters: this.deadLetterCount(), databaseBytes: this.#sql.databaseSize, hasOldRows: false };
  }

  deadLetterCount(): number {
    return Number(this.#rows("SELECT count(*) AS count FROM parked")[0]?.count ?? 0);
  }

  #rows(query: string, ...bindings: unknown[]): Row[] {
    return this.#sql.exec<Row>(query, ...bindings).toArray();
  }

  #write(query: string, ...bindings: unknown[]): void {
    this.#sql.exec(query, ...bindings);
  }
}
