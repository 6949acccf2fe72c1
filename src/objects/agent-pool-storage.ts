import type { HostReport } from "../domain/githost/host-report.ts";
import { apply } from "../domain/pool/apply.ts";
import type { RunValues } from "../domain/pool/commands.ts";
import type {
  BuildFacts,
  Change,
  Deletion,
  JobFacts,
  KeyedBuild,
  KnownDelivery,
  Records,
  Report,
} from "../domain/pool/facts.ts";
import type { Head, HeadKey } from "../domain/pool/heads.ts";
import { isHostDue } from "../domain/pool/host-state.ts";
import type { DiskNumbers } from "../domain/pool/numbers.ts";
import { RULES } from "../domain/pool/rules.ts";
import { emptyState, type PoolState } from "../domain/pool/state.ts";
import { isEnded } from "../protocol/build-states.ts";
import { LIMITS } from "../protocol/limits.ts";
import { DeadLetters } from "./agent-pool-dead-letters.ts";
import { DeletionRows } from "./agent-pool-deletion-rows.ts";
import { EndCloses, type PendingClose } from "./agent-pool-end-closes.ts";
import { HostRows } from "./agent-pool-host-rows.ts";
import {
  ACTIVE_JOBS,
  ACTIVE_PLANS,
  changesOfJob,
  deleteJobs,
  JobRows,
  readGraph,
  readJob,
} from "./agent-pool-job-rows.ts";
import { dropReleasesBefore } from "./agent-pool-releases-before.ts";
import { Reports } from "./agent-pool-reports.ts";
import { ACTIVE, forgetSlice } from "./agent-pool-retention.ts";
import { readAgent, readBuild, writeBuild } from "./agent-pool-rows.ts";
import {
  type AuditOutboxEntry,
  append,
  closeOf,
  isBuildChange,
  type LogOutboxEntry,
  REVOKED,
  TABLES,
  writesOf,
} from "./agent-pool-tables.ts";

export interface BuildRecord {
  build: BuildFacts;
  job: JobFacts;
  report: Report;
}

type Row = Record<string, string | null>;
type Queue = "audit_outbox" | "log_outbox";

/** The pool's tables in its SQLite database: facts as JSON, one row each. */
export class PoolStorage implements Records {
  readonly deadLetters: DeadLetters;
  readonly deletions: DeletionRows;
  readonly jobRows: JobRows;
  readonly #sql: SqlStorage;
  readonly #newId: (at: number) => string;
  readonly #runValuesMs: () => number;
  readonly #reports: Reports;
  readonly #endCloses = new EndCloses();
  readonly #hosts: HostRows;
  /** Whether the last cleanup may have left rows that are too old. */
  hasOldRows = false;

  /** `runValuesMs`: how long the values of a run are kept after its build was queued. */
  constructor(sql: SqlStorage, newId: (at: number) => string, runValuesMs: () => number) {
    this.#sql = sql;
    this.#newId = newId;
    this.#runValuesMs = runValuesMs;
    sql.exec(TABLES);
    this.deadLetters = new DeadLetters(sql);
    this.deletions = new DeletionRows(sql);
    this.jobRows = new JobRows(sql);
    this.#hosts = new HostRows(sql);
    dropReleasesBefore(sql);
    this.#reports = new Reports(sql);
  }

  /** The state after the last committed transaction. Read row by row: all rows at once do not fit into memory. */
  load(now: number): PoolState {
    const state = emptyState(this);
    for (const { name, value } of this.#rows("SELECT name, value FROM meta")) {
      const [, tokenId] = name!.split(REVOKED);
      if (name === "org") apply(state, [{ kind: "org", orgId: value! }]);
      if (name === "fence") apply(state, [{ kind: "fence", fence: Number(value) }]);
      if (name === "told") apply(state, [{ kind: "told", sequence: Number(value) }]);
      if (name === "unchecked") apply(state, [{ kind: "unchecked", sequence: Number(value) }]);
      if (name === "tell-again") apply(state, [{ kind: "tell-again", ...JSON.parse(value!) }]);
      if (tokenId) apply(state, [{ kind: "revoked", tokenId, at: Number(value) }]);
    }
    this.#readRows("agent", "SELECT id, facts FROM agent ORDER BY id", ({ facts }) => {
      apply(state, [{ kind: "agent", agent: readAgent(facts!) }]);
    });
    const untold = "SELECT seq, id, ended_at, facts FROM build WHERE ended_at IS NULL ORDER BY seq";
    this.#readRows("build", untold, ({ facts }) => {
      const found = readBuild(facts!);
      apply(state, changesOf(found, now));
      if (!isEnded(found.build.status)) return;
      this.#endCloses.addLoaded(found.build, found.job, now);
      if (isHostDue(found.build)) this.#hosts.add(found.build.id);
    });
    this.#loadJobs(state);
    apply(
      state,
      this.#hosts.load().map((buildId) => ({ kind: "host-due", buildId, at: now }) as const),
    );
    apply(state, [{ kind: "loaded" }]);
    const { audits, closes } = this.pending();
    if (audits > 0) apply(state, [{ kind: "flush", at: now, failures: 0 }]);
    apply(
      state,
      this.deletions.pending().map((deletion) => ({ kind: "deleted", deletion }) as const),
    );
    if (closes > 0) apply(state, [{ kind: "closing", at: now, failures: 0 }]);
    return state;
  }

  #loadJobs(state: PoolState): void {
    this.#readRows("plan", ACTIVE_PLANS, ({ build_id: buildId, facts }) => {
      if (!state.builds.get(buildId!)?.several) return;
      apply(state, [{ kind: "graph", buildId: buildId!, graph: readGraph(facts!), text: "" }]);
    });
    this.#readRows("build_job", ACTIVE_JOBS, ({ build_id: buildId, facts }) => {
      if (state.graphs.has(buildId!)) apply(state, changesOfJob(readJob(facts!)));
    });
  }

  /** Reads each row by itself, and sets aside those that cannot be read: the rest of the pool goes on. */
  #readRows(
    table: "agent" | "build" | "plan" | "build_job" | Queue,
    query: string,
    read: (row: Row) => void,
    ...bindings: unknown[]
  ): void {
    const damaged: [row: Row, error: unknown][] = [];
    for (const row of this.#sql.exec<Row>(query, ...bindings)) {
      try {
        read(row);
      } catch (error) {
        damaged.push([row, error]);
      }
    }
    for (const [row, error] of damaged) this.deadLetters.setAside(table, row, error);
  }

  store(changes: readonly Change[]): void {
    const touched = new Map<string, { build?: BuildFacts; job?: JobFacts }>();
    this.jobRows.store(changes);
    for (const change of changes) {
      if (change.kind === "build" && !change.build.jobOf)
        touched.set(change.build.id, { ...touched.get(change.build.id), build: change.build });
      if (change.kind === "job" && !change.job.jobOf)
        touched.set(change.job.buildId, { ...touched.get(change.job.buildId), job: change.job });
    }
    for (const [id, { build, job }] of touched) this.#storeBuild(id, build, job);
    for (const change of changes) {
      if (change.kind === "forget") this.deletions.forgetOld(change.before);
      if (change.kind === "forget") this.hasOldRows = forgetSlice(this.#sql, change, this.#runValuesMs());
      else if (change.kind === "report") this.#reports.store(change.buildId, change.report, change.at);
      else if (!isBuildChange(change) && !this.#isKept(change, touched))
        for (const [query, ...bindings] of writesOf(change, this.#newId)) this.#write(query, ...bindings);
      if (change.kind === "deleted" && change.deletion.deleted === "build")
        deleteJobs(this.#sql, JSON.stringify([change.deletion.buildId]));
      this.#keepHostState(change, touched.get("buildId" in change ? change.buildId : "")?.build);
      if (change.kind === "clean" && change.endedAt !== null) this.#keepClose(change.buildId);
      if (change.kind === "inputs" && JSON.stringify(change.runValues).length > LIMITS.largeInputsCharacters) {
        this.#deleteLargeRunValues();
      }
    }
    for (const change of changes)
      if (change.kind === "build" && isEnded(change.build.status)) this.#reports.complete(change.build.id);
  }

  /** Whether the close of a log is kept by the row of its build, which ends with it. */
  #isKept(change: Change, touched: ReadonlyMap<string, { build?: BuildFacts }>): boolean {
    if (change.kind === "logs-closed") this.#endCloses.done(change.entries);
    if (change.kind !== "close" || change.endedAt === undefined) return false;
    const build = touched.get(change.jobId)?.build;
    if (build) this.#endCloses.add(build, closeOf(change));
    return build !== undefined;
  }

  /** Remembers which ended builds git hosts have to hear of, where the rows of the builds do not say it. */
  #keepHostState(change: Change, build: BuildFacts | undefined): void {
    if (change.kind === "host-due" && build && isEnded(build.status)) this.#hosts.add(build.id);
    if (change.kind === "host-told") this.#hosts.done(change.buildId);
    if (change.kind === "deleted" && change.deletion.deleted === "build") this.#hosts.done(change.deletion.buildId);
    if (change.kind === "clean" && change.endedAt !== null)
      this.#hosts.keep(change.buildId, () => this.hostReport(change.buildId));
  }

  /** Writes down a close that is still to be done, once the build's row does not say so any more. */
  #keepClose(buildId: string): void {
    const entry = this.#endCloses.told(buildId);
    if (entry) this.#write(...append("log_outbox", entry));
  }

  /** One row, whatever of it changed. What D1 heard of an ended build is out of date once that changes. */
  #storeBuild(id: string, build: BuildFacts | undefined, job: JobFacts | undefined): void {
    if (!build) {
      this.#write("UPDATE build SET facts = json_set(facts, '$.job', json(?)) WHERE id = ?", JSON.stringify(job), id);
    } else if (!job) {
      const update = "UPDATE build SET facts = json_set(?, '$.job', facts -> '$.job') WHERE seq = ?";
      this.#write(update, JSON.stringify(build), build.seq);
    } else {
      const facts = writeBuild(build, job);
      const update = "UPDATE build SET facts = ? WHERE seq = ? AND id = ? RETURNING 1";
      const isKnown = this.#rows(update, facts, build.seq, id).length > 0;
      if (!isKnown) this.#write("INSERT INTO build VALUES (?, ?, NULL, ?)", build.seq, id, facts);
    }
    // Apart from the facts: to set it also writes the index of builds under way.
    if (build && isEnded(build.status))
      this.#write("UPDATE build SET ended_at = NULL WHERE seq = ? AND ended_at IS NOT NULL", build.seq);
  }

  /** Deletes the large run values of the oldest ended builds, so that they never fill the disk. */
  #deleteLargeRunValues(): void {
    const older = `SELECT build_id FROM inputs WHERE length(facts) > ${LIMITS.largeInputsCharacters} ORDER BY at DESC LIMIT -1 OFFSET ${LIMITS.largeInputsKept}`;
    this.#write(`DELETE FROM inputs WHERE build_id IN (${older}) AND build_id NOT IN (${ACTIVE})`);
  }

  ended(buildId: string): { build: BuildFacts; job: JobFacts } | undefined {
    const found = this.buildRecord(buildId) ?? this.jobRows.find(buildId);
    return found?.build && found.job && isEnded(found.build.status)
      ? { build: found.build, job: found.job }
      : undefined;
  }

  deletion(buildId: string): Deletion | undefined {
    return this.deletions.find(buildId);
  }

  rememberedDeletions(): Deletion[] {
    return this.deletions.all();
  }

  keyed(caller: string, key: string): KeyedBuild | undefined {
    const [row] = this.#rows("SELECT facts FROM idempotency WHERE caller = ? AND name = ?", caller, key);
    return row && (JSON.parse(row.facts!) as KeyedBuild);
  }

  heads({ pipelineId, ref, purpose }: HeadKey): Head[] {
    const query = "SELECT facts FROM head WHERE pipeline = ? AND ref = ? AND purpose = ?";
    const [row] = this.#rows(query, pipelineId, ref, purpose);
    return row ? (JSON.parse(row.facts!) as Head[]) : [];
  }

  delivery(connectionId: string, deliveryId: string): KnownDelivery | undefined {
    const query = "SELECT at, facts FROM delivery WHERE connection = ? AND id = ?";
    const [row] = this.#rows(query, connectionId, deliveryId);
    return row && { at: Number(row.at), arrived: JSON.parse(row.facts!) };
  }

  /** What a git host has to hear of a build; null where that is nothing any more. */
  hostReport(buildId: string): HostReport | null {
    const found = this.buildRecord(buildId);
    return found ? RULES.hostReport(found.build, found.job) : this.#hosts.report(buildId);
  }

  outputs(jobId: string): Record<string, string> {
    return this.jobRows.outputs(jobId);
  }

  lastNumber(repoId: string): number {
    const [row] = this.#rows("SELECT last FROM number WHERE repo_id = ?", repoId);
    return Number(row?.last ?? 0);
  }

  endedAfter(seq: number, limit: number): { id: string; seq: number }[] {
    const query = "SELECT id, seq FROM build WHERE ended_at IS NOT NULL AND seq > ? ORDER BY seq LIMIT ?";
    const most = Number.isFinite(limit) ? limit : -1;
    return this.#rows(query, seq, most).map((row) => ({ id: row.id!, seq: Number(row.seq) }));
  }

  lastSeq(): number {
    const [row] = this.#rows("SELECT max(seq) AS last FROM build");
    return Number(row?.last ?? 0);
  }

  pending(): { audits: number; closes: number } {
    const count = (queue: Queue) => Number(this.#rows(`SELECT count(*) AS count FROM ${queue}`)[0]?.count ?? 0);
    return { audits: count("audit_outbox"), closes: count("log_outbox") + this.#endCloses.all.length };
  }

  /** A build that is active, or that ended within 24 hours. */
  buildRecord(buildId: string): BuildRecord | undefined {
    return this.#records("b.id = ?", buildId)[0];
  }

  /** What readers see of a build, or of a job of one, besides its facts. */
  report(id: string): Report {
    const [row] = this.#rows("SELECT facts FROM report WHERE build_id = ?", id);
    return this.#reports.read(id, row?.facts ?? null);
  }

  activeBuildRecords(): BuildRecord[] {
    return this.#records("b.ended_at IS NULL ORDER BY b.seq").filter(({ build }) => !isEnded(build.status));
  }

  buildRecords(buildIds: string[]): BuildRecord[] {
    return this.#records("b.id IN (SELECT value FROM json_each(?))", JSON.stringify(buildIds));
  }

  #records(where: string, ...bindings: unknown[]): BuildRecord[] {
    const found: BuildRecord[] = [];
    const query = `SELECT b.seq, b.id, b.ended_at, b.facts, r.facts AS report FROM build b
      LEFT JOIN report r ON r.build_id = b.id WHERE ${where}`;
    this.#readRows(
      "build",
      query,
      ({ id, facts, report }) => {
        found.push({ ...readBuild(facts!), report: this.#reports.read(id!, report!) });
      },
      ...bindings,
    );
    return found;
  }

  /** Texts of the build's steps that are masked. */
  maskedTexts(buildId: string): Set<string> {
    return this.#reports.texts(buildId);
  }

  /** What a retry takes over: from the row of its own where the run had values or keys of its own. */
  runValues(buildId: string): RunValues | undefined {
    const [row] = this.#rows("SELECT facts FROM inputs WHERE build_id = ?", buildId);
    if (row) return JSON.parse(row.facts!) as RunValues;
    const found = this.buildRecord(buildId);
    if (found?.job.inputBytes !== 0) return undefined;
    const { build, job } = found;
    return { inputs: null, secretKeys: [], requires: build.asked ?? job.requires, priority: build.priority };
  }

  /** Entries of the audit that are not delivered yet, the oldest first. */
  auditEntries(limit: number): { seq: number; entry: AuditOutboxEntry }[] {
    return this.#queued<AuditOutboxEntry>("audit_outbox", limit);
  }

  /** Logs that are not closed yet, the oldest first. */
  logEntries(limit: number): PendingClose[] {
    return [...this.#queued<LogOutboxEntry>("log_outbox", limit), ...this.#endCloses.all].slice(0, limit);
  }

  #queued<T>(queue: Queue, limit: number): { seq: number; entry: T }[] {
    const found: { seq: number; entry: T }[] = [];
    const query = `SELECT seq, body FROM ${queue} ORDER BY seq LIMIT ?`;
    this.#readRows(queue, query, ({ seq, body }) => found.push({ seq: Number(seq), entry: JSON.parse(body!) }), limit);
    return found;
  }

  numbers(): DiskNumbers {
    const [audit] = this.auditEntries(1);
    const [close] = this.logEntries(1);
    const since = Math.min(
      audit?.entry.entry.at ?? Number.POSITIVE_INFINITY,
      close?.entry.at ?? Number.POSITIVE_INFINITY,
    );
    return {
      deadLetters: this.deadLetters.count(),
      databaseBytes: this.#sql.databaseSize,
      hasOldRows: this.hasOldRows,
      pendingSince: Number.isFinite(since) ? since : null,
    };
  }

  #rows(query: string, ...bindings: unknown[]): Row[] {
    return this.#sql.exec<Row>(query, ...bindings).toArray();
  }

  #write(query: string, ...bindings: unknown[]): void {
    this.#sql.exec(query, ...bindings);
  }
}

/** What a stored build that D1 has to hear of, or that is active, means for the state. */
const changesOf = ({ build, job }: { build: BuildFacts; job: JobFacts }, now: number): Change[] => {
  const dirty: Change = { kind: "dirty", buildId: build.id, at: Math.min(now, build.finishedAt ?? now) };
  const host: Change[] = isHostDue(build) ? [{ kind: "host-due", buildId: build.id, at: now }] : [];
  if (isEnded(build.status)) return [{ kind: "sequence", sequence: build.version }, dirty, ...host];
  const active: Change[] = [{ kind: "build", build }, { kind: "job", job }, ...host];
  return build.isTold ? active : [...active, dirty];
};
