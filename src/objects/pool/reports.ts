import { SECOND_MS } from "../../protocol/units.ts";
import { NO_REPORT, type Report } from "../../queue/state/facts.ts";

/** Milliseconds between two writes of an active job's steps if no socket keeps them. */
const STEPS_MS = 30 * SECOND_MS;

/**
 * A change to a row's report: new parts that replace the old ones (null makes a part absent), or the start of an
 * attempt.
 */
export type ReportPatch = Record<string, unknown> | "attempt";

/** Returns an SQL expression for a row's report after these patches. Earlier releases had a table of patches. */
const patchedReport = (
  table: "build" | "build_job",
  patches: readonly ReportPatch[],
): [expression: string, bindings: string[]] => {
  const bindings: string[] = [];
  let expression = `coalesce(report, (SELECT facts FROM report WHERE build_id = ${table}.id), '{}')`;
  for (const patch of patches) {
    if (patch === "attempt") expression = `json_remove(${expression}, '$.steps', '$.summary', '$.masksCame')`;
    else expression = `json_patch(${expression}, ?)`;
    if (patch !== "attempt") bindings.push(JSON.stringify(patch));
  }
  return [expression, bindings];
};

/** Additions to a row's facts: changes of its report, and the audit entries that wait in it. */
export interface RowExtras {
  patches: readonly ReportPatch[];
  audit: string | null;
}

/** Returns the assignments of `extras` for an update, with a comma before each, and their bindings. */
export const assigned = (table: "build" | "build_job", { patches, audit }: RowExtras): [string, (string | null)[]] => {
  if (patches.length === 0) return [", audit = ?", [audit]];
  const [expression, bindings] = patchedReport(table, patches);
  return [`, audit = ?, report = ${expression}`, [audit, ...bindings]];
};

/** Keeps steps with the socket of the job's agent. @returns whether a socket kept them */
export type KeepSteps = (jobId: string, steps: Report["steps"]) => boolean;

/**
 * The reports of jobs, which readers see in addition to the facts. Steps change often. They wait in memory until the
 * pool writes their row for another reason, or for half a minute if the agent has no socket. A socket keeps them while
 * the object hibernates. A crash or a deploy closes all sockets. The rows then have older steps until the agent's next
 * report. An agent's last report precedes its result, so a build's record is complete.
 */
export class Reports {
  readonly #sql: SqlStorage;
  /** For each job, the steps that are not on disk yet, and the time of the last write. */
  readonly #waiting = new Map<string, { steps: Report["steps"] | null; writtenAt: number }>();
  readonly #keep: KeepSteps;

  constructor(sql: SqlStorage, keep: KeepSteps) {
    this.#sql = sql;
    this.#keep = keep;
  }

  /** Restores steps that a socket kept. */
  restore(jobId: string, steps: Report["steps"]): void {
    this.#waiting.set(jobId, { steps, writtenAt: 0 });
  }

  /** Accepts new parts of a report. @returns the parts to write now; null if they can wait */
  take(jobId: string, report: Partial<Report>, at: number): ReportPatch | null {
    if (report.summary === null && report.steps?.length === 0) {
      this.#waiting.delete(jobId);
      return "attempt";
    }
    const waiting = this.#waiting.get(jobId);
    const writtenAt = waiting?.writtenAt ?? 0;
    // Do this for written steps, too: a socket's copy must never be older than the row.
    const isKept = report.steps !== undefined && this.#keep(jobId, report.steps);
    const hasOnlySteps = Object.keys(report).join() === "steps";
    if (hasOnlySteps && (isKept || at - writtenAt < STEPS_MS)) {
      this.#waiting.set(jobId, { steps: report.steps!, writtenAt });
      return null;
    }
    const steps = report.steps ?? waiting?.steps;
    this.#waiting.set(jobId, { steps: null, writtenAt: at });
    return steps ? { masksCame: null, ...report, steps } : report;
  }

  /** Returns the waiting steps, because the caller is writing their row. */
  takeWaiting(jobId: string): ReportPatch[] {
    const waiting = this.#waiting.get(jobId);
    if (!waiting?.steps) return [];
    const { steps } = waiting;
    waiting.steps = null;
    return [{ steps }];
  }

  /** Forgets an ended job, which reports nothing more. */
  forget(jobId: string): void {
    this.#waiting.delete(jobId);
  }

  /**
   * Returns names and ids of the present attempt's steps, as the log masked them. Returns none if values to mask
   * arrived later.
   */
  texts(jobId: string): Set<string> {
    const { steps = [], masksCame } = JSON.parse(this.#stored(jobId) ?? "{}") as Partial<Report>;
    const knownSteps = this.#waiting.get(jobId)?.steps ?? (masksCame ? [] : steps);
    return new Set(knownSteps.flatMap(({ id, name }) => [name, id ?? ""]));
  }

  /** Returns the whole report of a job or a build. */
  find(id: string): Report {
    return this.read(id, this.#stored(id));
  }

  /** Returns the whole report. `stored` is its text on disk. */
  read(jobId: string, stored: string | null): Report {
    const steps = this.#waiting.get(jobId)?.steps;
    const report: Report = { ...NO_REPORT, ...(JSON.parse(stored ?? "{}") as Partial<Report>) };
    return steps ? { ...report, steps } : report;
  }

  #stored(id: string): string | null {
    const [row] = this.#sql.exec<{ report: string | null }>(
      `SELECT coalesce((SELECT report FROM build WHERE id = ?1), (SELECT report FROM build_job WHERE id = ?1),
        (SELECT facts FROM report WHERE build_id = ?1)) AS report`,
      id,
    );
    return row?.report ?? null;
  }
}
