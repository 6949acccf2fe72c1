import { log } from "../../log.ts";
import type { JobGraph } from "../../pipeline/graph/graph.ts";
import type { PlanOfBuild } from "../../queue/commands/commands.ts";
import type { Change, JobFacts } from "../../queue/state/facts.ts";
import { assigned, type RowExtras } from "./reports.ts";
import { type EarlierJobRow, must, objectIn, organizationIn, upgradeJob } from "./rows.ts";

const JOB_TABLES = `
CREATE TABLE IF NOT EXISTS plan (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS build_job (id TEXT PRIMARY KEY, build_id TEXT NOT NULL, facts TEXT NOT NULL, report TEXT, audit TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS build_job_of ON build_job (build_id);
CREATE TABLE IF NOT EXISTS output (job_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
`;

/** Selects plans, and jobs, of active builds. */
export const ACTIVE_PLANS = `SELECT p.build_id, p.facts FROM plan p
  JOIN build b ON b.id = p.build_id WHERE b.ended_at IS NULL`;
export const ACTIVE_JOBS = `SELECT j.* FROM build_job j
  JOIN build b ON b.id = j.build_id WHERE b.ended_at IS NULL`;

/** Parses a planned job. @throws if the row is damaged */
export const parseJobRow = (facts: string): JobFacts => {
  const row = objectIn(facts);
  if ("node" in row) {
    const earlier = row as unknown as EarlierJobRow;
    must(typeof earlier.node?.id === "string" && typeof earlier.node.index === "number", "node");
    must(!earlier.build === !earlier.job, "facts of the queue");
    return upgradeJob(earlier);
  }
  must(typeof row.id === "string" && typeof row.index === "number" && typeof row.status === "string", "job");
  return row as unknown as JobFacts;
};

interface PlanRow {
  graph: JobGraph;
  /** The text of the plan's file. */
  text: string;
}

/** @throws if the row is damaged */
export const parsePlanRow = (facts: string): PlanRow => {
  const plan = objectIn(facts) as unknown as PlanRow;
  must(Array.isArray(plan.graph?.jobs) && typeof plan.graph.facts === "object", "jobs");
  must(typeof plan.text === "string", "text");
  return plan;
};

/** The rows of plans, of planned jobs (one row for each), and of the jobs' outputs. */
export class JobRows {
  readonly #sql: SqlStorage;
  readonly #flush: () => void;

  /** `flush` writes waiting changes. */
  constructor(sql: SqlStorage, flush: () => void) {
    this.#sql = sql;
    this.#flush = flush;
    sql.exec(JOB_TABLES);
  }

  /** Stores one row, whichever of the job's parts changed. */
  store(job: JobFacts, extras: RowExtras): void {
    const facts = JSON.stringify(job);
    const [assignments, bindings] = assigned("build_job", extras);
    const update = `UPDATE build_job SET facts = ?${assignments} WHERE id = ? RETURNING 1`;
    if (this.#sql.exec(update, facts, ...bindings, job.id).toArray().length > 0) return;
    const insert = "INSERT INTO build_job (id, build_id, facts, audit) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, job.id, job.buildId, facts, extras.audit);
    if (extras.patches.length > 0) this.storeExtras(job.id, extras);
  }

  storeExtras(id: string, extras: RowExtras): void {
    const [assignments, bindings] = assigned("build_job", extras);
    this.#sql.exec(`UPDATE build_job SET id = id${assignments} WHERE id = ?`, ...bindings, id);
  }

  storePlan({ buildId, graph, text }: Change & { kind: "graph" }): void {
    this.#sql.exec("INSERT OR REPLACE INTO plan VALUES (?, ?)", buildId, JSON.stringify({ graph, text }));
  }

  storeOutputs({ jobId, outputs }: Change & { kind: "outputs" }): void {
    this.#sql.exec("INSERT OR REPLACE INTO output VALUES (?, ?)", jobId, JSON.stringify(outputs));
  }

  find(jobId: string): JobFacts | undefined {
    this.#flush();
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM build_job WHERE id = ?", jobId);
    return row && parseJobRow(row.facts);
  }

  /** Returns all readable jobs of a build, by id. */
  of(buildId: string): Map<string, JobFacts> {
    this.#flush();
    const query = "SELECT id, facts FROM build_job WHERE build_id = ?";
    const jobs = new Map<string, JobFacts>();
    for (const { id, facts } of this.#sql.exec<{ id: string; facts: string }>(query, buildId)) {
      try {
        jobs.set(id, parseJobRow(facts));
      } catch (error) {
        log.error("pool.job_damaged", { orgId: organizationIn(this.#sql), jobId: id, error });
      }
    }
    return jobs;
  }

  /** Returns a build's plan; undefined if its row is unreadable. */
  plan(buildId: string): PlanRow | undefined {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM plan WHERE build_id = ?", buildId);
    try {
      return row && parsePlanRow(row.facts);
    } catch (error) {
      log.error("pool.plan_damaged", { orgId: organizationIn(this.#sql), buildId, error });
      return undefined;
    }
  }

  /** Returns a build's plan, with the results of its ended jobs. */
  findPlan(buildId: string): PlanOfBuild | undefined {
    const plan = this.plan(buildId);
    if (!plan) return undefined;
    const ended = [...this.of(buildId).values()].flatMap(({ id, end }) => (end ? [{ id, end }] : []));
    const jobs = Object.fromEntries(ended.map(({ id, end }) => [id, { end, outputs: this.outputs(id) }]));
    return { ...plan, jobs };
  }

  outputs(jobId: string): Record<string, string> {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM output WHERE job_id = ?", jobId);
    return row ? (JSON.parse(row.facts) as Record<string, string>) : {};
  }
}

/** Deletes everything stored about the jobs of these builds. `ids` is a JSON list. */
export const deleteJobs = (sql: SqlStorage, ids: string): void => {
  const jobs = "SELECT id FROM build_job WHERE build_id IN (SELECT value FROM json_each(?))";
  sql.exec(`DELETE FROM report WHERE build_id IN (${jobs})`, ids);
  sql.exec(`DELETE FROM output WHERE job_id IN (${jobs})`, ids);
  sql.exec("DELETE FROM build_job WHERE build_id IN (SELECT value FROM json_each(?))", ids);
  sql.exec("DELETE FROM plan WHERE build_id IN (SELECT value FROM json_each(?))", ids);
};
