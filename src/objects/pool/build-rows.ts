import { isEnded } from "../../protocol/build-states.ts";
import { type DayCount, NO_BUILDS, toDayCount } from "../../queue/state/counts.ts";
import type { BuildFacts, JobFacts, Report } from "../../queue/state/facts.ts";
import type { ReadableRows } from "./dead-letters.ts";
import { assigned, type Reports, type RowExtras } from "./reports.ts";
import { parseBuildRow, writeBuild } from "./rows.ts";

/** The negated condition of `isEarlierBuild`. */
const OF_THIS_RELEASE = "json_type(facts, '$.until') IS NOT NULL";

export interface LoadedBuild {
  build: BuildFacts;
  /** The build's first job, unless planned jobs replaced it. */
  first: JobFacts | undefined;
  report: Report;
}

/** The changed parts of a build's row. */
export interface BuildParts {
  build?: BuildFacts | undefined;
  /** The build's first job; null if planned jobs replaced it. */
  first?: JobFacts | null | undefined;
}

/** The rows of builds. Each row also has the first job's facts and report. */
export class BuildRows {
  readonly #sql: SqlStorage;
  readonly #rows: ReadableRows;
  readonly #reports: Reports;
  readonly #flush: () => void;

  /** `flush` writes waiting changes. */
  constructor(sql: SqlStorage, rows: ReadableRows, reports: Reports, flush: () => void) {
    this.#sql = sql;
    this.#rows = rows;
    this.#reports = reports;
    this.#flush = flush;
  }

  /** Stores one row, whichever of its parts changed. A change to an ended build makes D1's copy out of date. */
  store(id: string, parts: BuildParts, extras: RowExtras): void {
    if (parts.build && parts.first !== undefined) this.#storeWhole(id, parts.build, parts.first, extras);
    else if (!this.#storePart(id, parts, extras)) this.#upgrade(id, parts, extras);
    // The update of `ended_at` is a separate statement, because it also writes the index of active builds.
    if (parts.build && isEnded(parts.build.status))
      this.#sql.exec("UPDATE build SET ended_at = NULL WHERE id = ? AND ended_at IS NOT NULL", id);
  }

  #storeWhole(id: string, build: BuildFacts, first: JobFacts | null, extras: RowExtras): void {
    const facts = writeBuild(build, first ?? undefined);
    const [assignments, bindings] = assigned("build", extras);
    const update = `UPDATE build SET facts = ?${assignments} WHERE seq = ? AND id = ? RETURNING 1`;
    if (this.#rows.all(update, facts, ...bindings, build.seq, id).length > 0) return;
    const insert = "INSERT INTO build (seq, id, facts, audit) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, build.seq, id, facts, extras.audit);
    if (extras.patches.length > 0) this.storeExtras(id, extras);
  }

  /** @returns false if an earlier release wrote the row */
  #storePart(id: string, { build, first }: BuildParts, extras: RowExtras): boolean {
    const [facts, part] = build
      ? ["json_set(?, '$.job', facts -> '$.job')", build]
      : ["json_set(facts, '$.job', json(?))", first];
    const [assignments, bindings] = assigned("build", extras);
    const update = `UPDATE build SET facts = ${facts}${assignments} WHERE id = ? AND ${OF_THIS_RELEASE} RETURNING 1`;
    return this.#rows.all(update, JSON.stringify(part), ...bindings, id).length > 0;
  }

  /** Converts the whole row, so that no row mixes parts of this release and of an earlier one. */
  #upgrade(id: string, parts: BuildParts, extras: RowExtras): void {
    const [record] = this.#records("b.id = ?", id);
    if (record) this.#storeWhole(id, parts.build ?? record.build, parts.first ?? record.first ?? null, extras);
  }

  /** @returns whether the row exists */
  storeExtras(id: string, extras: RowExtras): boolean {
    const [assignments, bindings] = assigned("build", extras);
    return (
      this.#rows.all(`UPDATE build SET id = id${assignments} WHERE id = ? RETURNING 1`, ...bindings, id).length > 0
    );
  }

  /** Finds a build that is active or ended within 24 hours. */
  find(buildId: string): LoadedBuild | undefined {
    this.#flush();
    return this.#records("b.id = ?", buildId)[0];
  }

  of(buildIds: string[]): LoadedBuild[] {
    this.#flush();
    return this.#records("b.id IN (SELECT value FROM json_each(?))", JSON.stringify(buildIds));
  }

  active(): LoadedBuild[] {
    this.#flush();
    return this.#records("b.ended_at IS NULL ORDER BY b.seq").filter(({ build }) => !isEnded(build.status));
  }

  endedAfter(seq: number, limit: number): { id: string; seq: number }[] {
    const query = "SELECT id, seq FROM build WHERE ended_at IS NOT NULL AND seq > ? ORDER BY seq LIMIT ?";
    const most = Number.isFinite(limit) ? limit : -1;
    return this.#rows.all(query, seq, most).map((row) => ({ id: row.id!, seq: Number(row.seq) }));
  }

  lastSeq(): number {
    const [row] = this.#rows.all("SELECT max(seq) AS last FROM build");
    return Number(row?.last ?? 0);
  }

  lastDayCount(): DayCount {
    let count = NO_BUILDS;
    const newest = "SELECT * FROM build ORDER BY seq DESC LIMIT 1";
    this.#rows.each("build", newest, ({ facts }) => {
      count = toDayCount(parseBuildRow(facts!).build);
    });
    return count;
  }

  #records(where: string, ...bindings: unknown[]): LoadedBuild[] {
    const records: LoadedBuild[] = [];
    const query = `SELECT b.seq, b.id, b.ended_at, b.facts, coalesce(b.report, r.facts) AS report, b.audit FROM build b
      LEFT JOIN report r ON r.build_id = b.id WHERE ${where}`;
    this.#rows.each(
      "build",
      query,
      ({ id, facts, report }) => {
        records.push({ ...parseBuildRow(facts!), report: this.#reports.read(id!, report!) });
      },
      ...bindings,
    );
    return records;
  }
}
