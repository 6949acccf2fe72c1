import { NO_REPORT, type Report } from "../../queue/state/facts.ts";

/** Milliseconds between two writes of the steps of a job under way. */
const STEPS_MS = 30_000;

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
    const known = this.#waiting.get(jobId)?.steps ?? (masksCame ? [] : steps);
    return new Set(known.flatMap(({ id, name }) => [name, id ?? ""]));
  }

  /** The whole report, of which `stored` is the text on disk. */
  read(jobId: string, stored: string | null): Report {
    const steps = this.#waiting.get(jobId)?.steps;
    const report: Report = { ...NO_REPORT, ...(JSON.parse(stored ?? "{}") as Partial<Report>) };
    return steps ? { ...report, steps } : report;
  }
}
