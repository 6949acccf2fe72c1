import type { Change, JobFacts } from "../../queue/state/facts.ts";
import type { BuildParts, BuildRows } from "./build-rows.ts";
import type { JobRows } from "./job-rows.ts";
import type { ReportPatch, Reports, RowExtras } from "./reports.ts";
import { RowAudits } from "./row-audits.ts";
import { type AuditOutboxEntry, append } from "./tables.ts";

/* Selects rows of active builds, and of their jobs. */
const AUDITS = `SELECT id, audit FROM build WHERE ended_at IS NULL AND json_valid(audit)
  UNION ALL SELECT j.id, j.audit FROM build_job j JOIN build b ON b.id = j.build_id
    WHERE b.ended_at IS NULL AND json_valid(j.audit)`;

interface Tables {
  sql: SqlStorage;
  builds: BuildRows;
  jobRows: JobRows;
  reports: Reports;
  newId: (at: number) => string;
}

/** Writes the row of each build and job once for all its changes: to its facts, its report, and its audit entries. */
export class RowWrites {
  readonly audits = new RowAudits();
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
    for (const { id, audit } of tables.sql.exec<{ id: string; audit: string }>(AUDITS)) this.audits.load(id, audit);
  }

  write(changes: readonly Change[]): void {
    const { builds: buildRows, jobRows, reports } = this.#tables;
    for (const change of changes)
      if (change.kind === "entries-delivered") for (const seq of change.entries) this.audits.remove(seq);
    const builds = new Map<string, BuildParts>();
    const jobs = new Map<string, JobFacts>();
    const patches = new Map<string, ReportPatch[]>();
    const touch = (id: string, parts: BuildParts) => builds.set(id, { ...builds.get(id), ...parts });
    for (const change of changes) {
      if (change.kind === "build") touch(change.build.id, { build: change.build });
      else if (change.kind === "graph") touch(change.buildId, { first: null });
      else if (change.kind === "job" && change.job.id === change.job.buildId)
        touch(change.job.id, { first: change.job });
      else if (change.kind === "job") jobs.set(change.job.id, change.job);
      else if (change.kind === "report") {
        const patch = reports.take(change.jobId, change.report, change.at);
        if (patch) patches.set(change.jobId, [...(patches.get(change.jobId) ?? []), patch]);
      }
    }
    const isWritten = (id: string) => builds.has(id) || jobs.has(id) || patches.has(id);
    for (const change of changes) if (change.kind === "audit") this.#queueAudit(change, isWritten);
    const extrasOf = (id: string): RowExtras => ({
      patches: [...(patches.get(id) ?? []), ...reports.takeWaiting(id)],
      audit: this.audits.textOf(id),
    });
    for (const [id, parts] of builds) buildRows.store(id, parts, extrasOf(id));
    for (const job of jobs.values()) jobRows.store(job, extrasOf(job.id));
    for (const id of patches.keys()) {
      if (builds.has(id) || jobs.has(id)) continue;
      const extras = extrasOf(id);
      if (!buildRows.storeExtras(id, extras)) jobRows.storeExtras(id, extras);
    }
    for (const job of [...jobs.values(), ...[...builds.values()].flatMap(({ first }) => first ?? [])])
      if (job.end) reports.forget(job.id);
  }

  /**
   * Stores the entry in the row of its build or job if a change writes that row anyway. Stores it in the queue
   * otherwise.
   */
  #queueAudit({ entry, variableIds }: Change & { kind: "audit" }, isWritten: (rowId: string) => boolean): void {
    const queued = { id: this.#tables.newId(entry.at), entry, variableIds };
    if (isWritten(entry.subject)) this.audits.add(entry.subject, queued);
    else this.#append(queued);
  }

  #append(queued: AuditOutboxEntry): void {
    const [query, ...bindings] = append("audit_outbox", queued);
    this.#tables.sql.exec(query, ...bindings);
  }

  /**
   * Moves the build's waiting entries to the queue, because the next load of the pool does not read the build's rows.
   */
  releaseAudits(buildId: string): void {
    if (this.audits.size === 0) return;
    const jobs = this.#tables.sql
      .exec<{ id: string }>("SELECT id FROM build_job WHERE build_id = ?", buildId)
      .toArray();
    for (const rowId of [buildId, ...jobs.map(({ id }) => id)])
      for (const queued of this.audits.take(rowId)) this.#append(queued);
  }
}
