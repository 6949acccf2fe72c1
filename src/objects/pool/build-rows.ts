import { isEnded } from "../../protocol/build-states.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { type DayCount, NO_BUILDS, toDayCount } from "../../queue/state/counts.ts";
import { type BuildFacts, type JobFacts, NO_REPORT, type Report } from "../../queue/state/facts.ts";
import type { ReadableRows } from "./dead-letters.ts";
import { parseBuildRow, writeBuild } from "./rows.ts";

/** Milliseconds between two writes of the steps of a job under way. */
const STEPS_MS = 30 * SECOND_MS;

/* A report arrives in parts. A part that is null counts as absent. */
const PATCH =
  "INSERT INTO report VALUES (?, ?) ON CONFLICT (build_id) DO UPDATE SET facts = json_patch(facts, excluded.facts)";
const RESET = `UPDATE report SET facts = json_remove(facts, '$.steps', '$.summary', '$.masksCame')
  WHERE build_id = ? AND (json_array_length(facts, '$.steps') > 0 OR json_type(facts, '$.summary') = 'text')`;

/**
 * What readers see of jobs besides their facts. Steps change often: they wait in memory, and an eviction loses those
 * of the last half minute, which the agent's next report brings again.
 */
export class Reports {
  readonly #sql: SqlStorage;
  /** By job: steps that are not on disk yet, and when its steps were written last. */
  readonly #waiting = new Map<string, { steps: Report["steps"] | null; writtenAt: number }>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  store(jobId: string, report: Partial<Report>, at: number): void {
    if (report.summary === null && report.steps?.length === 0) {
      this.#waiting.delete(jobId);
      this.#sql.exec(RESET, jobId);
      return;
    }
    const waiting = this.#waiting.get(jobId);
    const hasOnlySteps = Object.keys(report).join() === "steps";
    if (hasOnlySteps && waiting && at - waiting.writtenAt < STEPS_MS) {
      waiting.steps = report.steps!;
      return;
    }
    const steps = report.steps ?? waiting?.steps;
    this.#sql.exec(PATCH, jobId, JSON.stringify(steps ? { masksCame: null, ...report, steps } : report));
    this.#waiting.set(jobId, { steps: null, writtenAt: at });
  }

  /** Writes the steps of a job that has ended. */
  complete(jobId: string): void {
    const steps = this.#waiting.get(jobId)?.steps;
    if (steps) this.#sql.exec(PATCH, jobId, JSON.stringify({ steps }));
    this.#waiting.delete(jobId);
  }

  /** Names and ids of the present attempt's steps, as its log masked them; none where values to mask came since. */
  texts(jobId: string): Set<string> {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM report WHERE build_id = ?", jobId).toArray();
    const { steps = [], masksCame } = JSON.parse(row?.facts ?? "{}") as Partial<Report>;
    const knownSteps = this.#waiting.get(jobId)?.steps ?? (masksCame ? [] : steps);
    return new Set(knownSteps.flatMap(({ id, name }) => [name, id ?? ""]));
  }

  /** The whole report, of which `stored` is the text on disk. */
  read(jobId: string, storedFacts: string | null): Report {
    const steps = this.#waiting.get(jobId)?.steps;
    const report: Report = { ...NO_REPORT, ...(JSON.parse(storedFacts ?? "{}") as Partial<Report>) };
    return steps ? { ...report, steps } : report;
  }
}

/** As `isEarlierBuild` tells it. */
const OF_THIS_RELEASE = "json_type(facts, '$.until') IS NOT NULL";

export interface LoadedBuild {
  build: BuildFacts;
  /** Its first job, where no planned jobs took its place. */
  first: JobFacts | undefined;
  report: Report;
}

/** What of a build's row changed. */
export interface BuildParts {
  build?: BuildFacts | undefined;
  /** Null where planned jobs took its place. */
  first?: JobFacts | null | undefined;
}

/** The rows of builds: each has the facts of its first job too, and its report is a row beside it. */
export class BuildRows {
  readonly #sql: SqlStorage;
  readonly #rows: ReadableRows;
  readonly #reports: Reports;

  constructor(sql: SqlStorage, rows: ReadableRows, reports: Reports) {
    this.#sql = sql;
    this.#rows = rows;
    this.#reports = reports;
  }

  /** One row, whatever of it changed. What D1 heard of an ended build is out of date once that changes. */
  store(id: string, parts: BuildParts): void {
    if (parts.build && parts.first !== undefined) this.#storeWhole(id, parts.build, parts.first);
    else if (!this.#storePart(id, parts)) this.#upgrade(id, parts);
    // Apart from the facts: to set it also writes the index of builds under way.
    if (parts.build && isEnded(parts.build.status))
      this.#sql.exec("UPDATE build SET ended_at = NULL WHERE id = ? AND ended_at IS NOT NULL", id);
  }

  #storeWhole(id: string, build: BuildFacts, first: JobFacts | null): void {
    const facts = writeBuild(build, first ?? undefined);
    const update = "UPDATE build SET facts = ? WHERE seq = ? AND id = ? RETURNING 1";
    const isKnown = this.#rows.all(update, facts, build.seq, id).length > 0;
    if (!isKnown) this.#sql.exec("INSERT INTO build VALUES (?, ?, NULL, ?)", build.seq, id, facts);
  }

  /** @returns false where an earlier release wrote the row */
  #storePart(id: string, { build, first }: BuildParts): boolean {
    const [facts, part] = build
      ? ["json_set(?, '$.job', facts -> '$.job')", build]
      : ["json_set(facts, '$.job', json(?))", first];
    const update = `UPDATE build SET facts = ${facts} WHERE id = ? AND ${OF_THIS_RELEASE} RETURNING 1`;
    return this.#rows.all(update, JSON.stringify(part), id).length > 0;
  }

  /** No row has a part of this release beside one of an earlier release. */
  #upgrade(id: string, parts: BuildParts): void {
    const record = this.find(id);
    if (record) this.#storeWhole(id, parts.build ?? record.build, parts.first ?? record.first ?? null);
  }

  /** A build that is active, or that ended within 24 hours. */
  find(buildId: string): LoadedBuild | undefined {
    return this.#records("b.id = ?", buildId)[0];
  }

  of(buildIds: string[]): LoadedBuild[] {
    return this.#records("b.id IN (SELECT value FROM json_each(?))", JSON.stringify(buildIds));
  }

  active(): LoadedBuild[] {
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
    const newest = "SELECT seq, id, ended_at, facts FROM build ORDER BY seq DESC LIMIT 1";
    this.#rows.each("build", newest, ({ facts }) => {
      count = toDayCount(parseBuildRow(facts!).build);
    });
    return count;
  }

  #records(where: string, ...bindings: unknown[]): LoadedBuild[] {
    const records: LoadedBuild[] = [];
    const query = `SELECT b.seq, b.id, b.ended_at, b.facts, r.facts AS report FROM build b
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
