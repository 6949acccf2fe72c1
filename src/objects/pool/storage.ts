import type { HostReport } from "../../githosts/core/host-report.ts";
import type { AgentRun } from "../../protocol/agent.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { KeyedBuild, KnownDelivery, RunValues } from "../../queue/commands/commands.ts";
import type { Head, HeadKey } from "../../queue/commands/heads.ts";
import { apply } from "../../queue/state/apply.ts";
import type { DayCount } from "../../queue/state/counts.ts";
import type {
  BuildChannel,
  BuildFacts,
  Change,
  Deletion,
  JobEntry,
  JobFacts,
  Report,
} from "../../queue/state/facts.ts";
import { toHostReport } from "../../queue/state/host-state.ts";
import type { DiskNumbers } from "../../queue/state/numbers.ts";
import type { PoolState, Records } from "../../queue/state/state.ts";
import { BuildRows } from "./build-rows.ts";
import { DeadLetters, ReadableRows } from "./dead-letters.ts";
import { type AskedRuns, deleteLargeRunValues, endedRuns, forgetSlice } from "./ended-builds.ts";
import { deleteJobs, JobRows } from "./job-rows.ts";
import { due, loadState } from "./load.ts";
import { type KeepSteps, Reports } from "./reports.ts";
import { RowWrites } from "./row-writes.ts";
import { earlierReports, lastFence } from "./rows.ts";
import { StoredBytes } from "./stored-bytes.ts";
import {
  type AuditOutboxEntry,
  addColumns,
  COUNTERS,
  type Counters,
  isBuildChange,
  type LogOutboxEntry,
  POOL_TABLES,
  toWrites,
} from "./tables.ts";

/** The pool's tables in its SQLite database. Each row has its facts as JSON. */
export class PoolStorage implements Records {
  readonly deadLetters: DeadLetters;
  readonly jobRows: JobRows;
  readonly builds: BuildRows;
  readonly stored: StoredBytes;
  readonly #sql: SqlStorage;
  readonly #rows: ReadableRows;
  readonly #runValuesMs: () => number;
  readonly reports: Reports;
  readonly #rowWrites: RowWrites;
  readonly #earlierReports: Map<string, HostReport>;
  #counters: Counters = { fence: 0, told: 0 };
  /** Changes of the present step that are not written yet. */
  #waiting: Change[] = [];
  /** Whether the last cleanup may have left expired rows. */
  hasOldRows = false;

  /** `runValuesMs` is how long the pool keeps a run's values after the run's build was queued. */
  constructor(
    sql: SqlStorage,
    newId: (at: number) => string,
    runValuesMs: () => number,
    keepSteps: KeepSteps = () => false,
  ) {
    this.#sql = sql;
    this.#runValuesMs = runValuesMs;
    sql.exec(POOL_TABLES);
    this.deadLetters = new DeadLetters(sql);
    this.stored = new StoredBytes(sql);
    this.jobRows = new JobRows(sql, () => this.flush());
    addColumns(sql);
    this.#earlierReports = earlierReports(sql);
    this.reports = new Reports(sql, keepSteps);
    this.#rows = new ReadableRows(sql, this.deadLetters);
    this.builds = new BuildRows(sql, this.#rows, this.reports, () => this.flush());
    this.#rowWrites = new RowWrites({ sql, builds: this.builds, jobRows: this.jobRows, reports: this.reports, newId });
  }

  /** Loads the state after the last committed transaction. */
  load(now: number, alarmAt: number | null): PoolState {
    const state = loadState(this, this.#rows, { now, alarmAt, rowAudits: this.#rowWrites.audits.size });
    this.#counters = { fence: state.storedFence, told: state.databaseSequence };
    const deletions = this.pendingDeletions().map((deletion): Change => ({ kind: "deleted", deletion }));
    apply(state, [...[...this.#earlierReports.keys()].map((buildId) => due("hosts", buildId, now)), ...deletions]);
    return state;
  }

  /** Accepts a step's changes. `flush` later writes them, and writes a changed build's row only once. */
  store(changes: readonly Change[]): void {
    this.#waiting.push(...changes);
  }

  /** Writes waiting changes. Every reader of these tables calls it first. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const changes = this.#waiting;
    this.#waiting = [];
    this.#rowWrites.write(changes);
    for (const change of changes) this.#write(change);
    this.#writeCounters(changes);
  }

  #writeCounters(changes: readonly Change[]): void {
    const before = this.#counters;
    for (const change of changes) {
      if (change.kind === "fence") this.#counters = { ...this.#counters, fence: change.fence };
      else if (change.kind === "told" && !change.isInMemory)
        this.#counters = { ...this.#counters, told: change.sequence };
    }
    if (this.#counters === before) return;
    this.#sql.exec("INSERT OR REPLACE INTO meta VALUES (?, ?)", COUNTERS, JSON.stringify(this.#counters));
  }

  #write(change: Change): void {
    if (change.kind === "heard") this.#rowWrites.releaseAudits(change.buildId);
    if (change.kind === "deleted") this.#rowWrites.releaseAudits(change.deletion.buildId);
    if (change.kind === "forget") this.hasOldRows = forgetSlice(this.#sql, change, this.#runValuesMs());
    else if (change.kind === "graph") this.jobRows.storePlan(change);
    else if (change.kind === "outputs") this.jobRows.storeOutputs(change);
    else if (!isBuildChange(change))
      for (const [query, ...bindings] of toWrites(change)) this.#sql.exec(query, ...bindings);
    if (change.kind === "deleted" && change.deletion.deleted === "build") {
      deleteJobs(this.#sql, JSON.stringify([change.deletion.buildId]));
      this.#forgetReport(change.deletion.buildId);
    }
    if (change.kind === "delivered" && change.channel === "hosts") this.#forgetReport(change.buildId);
    if (change.kind === "inputs" && JSON.stringify(change.runValues).length > LIMITS.largeInputsCharacters)
      deleteLargeRunValues(this.#sql);
  }

  #forgetReport(buildId: string): void {
    if (this.#earlierReports.delete(buildId)) this.#sql.exec("DELETE FROM host_outbox WHERE build_id = ?", buildId);
  }

  /** Finds the jobs of a build. */
  findJobs(buildId: string): JobFacts[] {
    const first = this.builds.find(buildId)?.first;
    return first ? [first] : [...this.jobRows.of(buildId).values()].sort((one, other) => one.index - other.index);
  }

  job(jobId: string): JobFacts | undefined {
    return this.builds.find(jobId)?.first ?? this.jobRows.find(jobId);
  }

  ended(buildId: string): BuildFacts | undefined {
    this.flush();
    const build = this.builds.find(buildId)?.build;
    return build && isEnded(build.status) ? build : undefined;
  }

  endedJob(jobId: string): JobEntry | undefined {
    this.flush();
    const job = this.job(jobId);
    const build = job?.end && this.builds.find(job.buildId)?.build;
    return job && build ? { build, job } : undefined;
  }

  /** Lists the agents' runs in ended builds. */
  endedRuns(request: AskedRuns): AgentRun[] {
    return endedRuns(this.#sql, request);
  }

  deletion(buildId: string): Deletion | undefined {
    return this.#deletions("build_id = ?", buildId)[0];
  }

  rememberedDeletions(): Deletion[] {
    return this.#deletions("TRUE");
  }

  /** Lists deletions that the pool has not carried out yet, the oldest first. */
  pendingDeletions(limit = Number.MAX_SAFE_INTEGER): Deletion[] {
    return this.#deletions("is_done = 0 ORDER BY at LIMIT ?", limit);
  }

  #deletions(where: string, ...bindings: unknown[]): Deletion[] {
    this.flush();
    const rows = this.#rows.all(`SELECT facts FROM deletion WHERE ${where}`, ...bindings);
    return rows.map(({ facts }) => JSON.parse(facts!) as Deletion);
  }

  keyed(caller: string, key: string): KeyedBuild | undefined {
    this.flush();
    const [row] = this.#rows.all("SELECT facts FROM idempotency WHERE caller = ? AND name = ?", caller, key);
    return row && (JSON.parse(row.facts!) as KeyedBuild);
  }

  heads({ pipelineId, ref, purpose }: HeadKey): Head[] {
    this.flush();
    const query = "SELECT facts FROM head WHERE pipeline = ? AND ref = ? AND purpose = ?";
    const [row] = this.#rows.all(query, pipelineId, ref, purpose);
    return row ? (JSON.parse(row.facts!) as Head[]) : [];
  }

  delivery(connectionId: string, deliveryId: string): KnownDelivery | undefined {
    this.flush();
    const query = "SELECT at, facts FROM delivery WHERE connection = ? AND id = ?";
    const [row] = this.#rows.all(query, connectionId, deliveryId);
    return row && { at: Number(row.at), arrived: JSON.parse(row.facts!) };
  }

  /** Returns the report of a build for its git host; null if there is nothing left to report. */
  hostReport(buildId: string): HostReport | null {
    const record = this.builds.find(buildId);
    if (!record) return this.#earlierReports.get(buildId) ?? null;
    const { build, first } = record;
    const planned = !first && isEnded(build.status) ? this.findJobs(buildId) : [];
    return toHostReport(build, first ? [first] : planned);
  }

  outputs(jobId: string): Record<string, string> {
    if (this.#waiting.some((change) => change.kind === "outputs" && change.jobId === jobId)) this.flush();
    return this.jobRows.outputs(jobId);
  }

  lastNumber(repoId: string): number {
    this.flush();
    const [row] = this.#rows.all("SELECT last FROM number WHERE repo_id = ?", repoId);
    return Number(row?.last ?? 0);
  }

  pending(channel: BuildChannel): number {
    if (channel === "hosts") return 0;
    this.flush();
    const queue = channel === "lists" ? "audit_outbox" : "log_outbox";
    const [row] = this.#rows.all(`SELECT count(*) AS count FROM ${queue}`);
    return Number(row?.count ?? 0) + (channel === "lists" ? this.#rowWrites.audits.size : 0);
  }

  endedAfter(seq: number, limit: number): { id: string; seq: number }[] {
    this.flush();
    return this.builds.endedAfter(seq, limit);
  }

  lastSeq(): number {
    this.flush();
    return this.builds.lastSeq();
  }

  lastDayCount(): DayCount {
    this.flush();
    return this.builds.lastDayCount();
  }

  /** Returns the report of a build or a job, which readers see in addition to the facts. */
  report(id: string): Report {
    return this.reports.find(id);
  }

  /** Returns the values that a retry adopts. They have a row of their own if the run had its own values or keys. */
  runValues(buildId: string, known?: BuildFacts): RunValues | undefined {
    const [row] = this.#rows.all("SELECT facts FROM inputs WHERE build_id = ?", buildId);
    if (row) return JSON.parse(row.facts!) as RunValues;
    const build = known ?? this.builds.find(buildId)?.build;
    if (build?.inputBytes !== 0) return undefined;
    const { requires, priority } = build;
    return { inputs: null, secretKeys: [], requires, priority };
  }

  /** Returns audit entries that the pool has not delivered yet, the oldest first. */
  auditEntries(limit: number): { seq: number; entry: AuditOutboxEntry }[] {
    this.flush();
    const queued = this.#rows.queued<AuditOutboxEntry>("audit_outbox", limit);
    const all = [...queued, ...this.#rowWrites.audits.list(limit)];
    return all.sort((one, other) => one.entry.entry.at - other.entry.entry.at).slice(0, limit);
  }

  /** Returns logs that the pool has not closed yet, the oldest first. Excludes logs of ended builds. */
  logEntries(limit: number): { seq: number; entry: LogOutboxEntry }[] {
    return this.#rows.queued<LogOutboxEntry>("log_outbox", limit);
  }

  /** Returns the final close of an ended build's log; null if no agent wrote to the log. */
  endClose(buildId: string): LogOutboxEntry | null {
    const record = this.builds.find(buildId);
    const fence = record ? lastFence(record) : 0;
    const at = record?.build.finishedAt ?? Date.now();
    return fence > 0 ? { jobId: buildId, fence, at, endedAt: at } : null;
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
      storedBytes: this.stored.used(Date.now()),
      hasOldRows: this.hasOldRows,
      pendingSince: Number.isFinite(since) ? since : null,
    };
  }
}
