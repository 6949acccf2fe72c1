import type { JobGraph } from "../domain/jobs/graph.ts";
import type { JobNode } from "../domain/jobs/node.ts";
import type { PlanOfBuild } from "../domain/pool/commands.ts";
import type { BuildFacts, Change, JobFacts } from "../domain/pool/facts.ts";
import { isEnded } from "../protocol/build-states.ts";
import { must, objectIn } from "./agent-pool-rows.ts";

const JOB_TABLES = `
CREATE TABLE IF NOT EXISTS plan (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS build_job (id TEXT PRIMARY KEY, build_id TEXT NOT NULL, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS build_job_of ON build_job (build_id);
CREATE TABLE IF NOT EXISTS output (job_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
`;

/** Plans, and jobs, of builds that are under way. */
export const ACTIVE_PLANS = `SELECT p.build_id, p.facts FROM plan p
  JOIN build b ON b.id = p.build_id WHERE b.ended_at IS NULL`;
export const ACTIVE_JOBS = `SELECT j.id, j.build_id, j.facts FROM build_job j
  JOIN build b ON b.id = j.build_id WHERE b.ended_at IS NULL`;

/** One job of a build of several: what became of it, and what the queue had of it. */
export interface JobRow {
  node: JobNode;
  build?: BuildFacts;
  job?: JobFacts;
}

/** @throws where the row is damaged */
export const readJob = (facts: string): JobRow => {
  const row = objectIn(facts) as unknown as JobRow;
  must(typeof row.node?.id === "string" && typeof row.node.index === "number", "node");
  must(!row.build === !row.job, "facts of the queue");
  return row;
};

interface PlanRow {
  graph: JobGraph;
  /** The file that it was read from. */
  text: string;
}

/** @throws where the row is damaged */
export const readPlan = (facts: string): PlanRow => {
  const plan = objectIn(facts) as unknown as PlanRow;
  must(Array.isArray(plan.graph?.jobs) && typeof plan.graph.facts === "object", "jobs");
  must(typeof plan.text === "string", "text");
  return plan;
};

/** What a stored job of a build that is under way means for the state. */
export const changesOfJob = ({ node, build, job }: JobRow): Change[] => {
  const queued: Change[] = build && job && !isEnded(build.status) ? queueChanges(build, job) : [];
  return [{ kind: "node", node }, ...queued];
};

const queueChanges = (build: BuildFacts, job: JobFacts): Change[] => [
  { kind: "build", build },
  { kind: "job", job },
];

/** The rows of builds of several jobs: their plans, one row for each job, and what jobs tell others. */
export class JobRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(JOB_TABLES);
  }

  /** Stores what of the changes is about single jobs: one write for each job, whatever of it changed. */
  store(changes: readonly Change[]): void {
    const touched = new Map<string, Partial<JobRow>>();
    const touch = (id: string, part: Partial<JobRow>) => touched.set(id, { ...touched.get(id), ...part });
    for (const change of changes) {
      if (change.kind === "node") touch(change.node.id, { node: change.node });
      else if (change.kind === "build" && change.build.jobOf) touch(change.build.id, { build: change.build });
      else if (change.kind === "job" && change.job.jobOf) touch(change.job.id, { job: change.job });
      else if (change.kind === "graph") this.#storePlan(change);
      else if (change.kind === "outputs") this.#storeOutputs(change);
    }
    for (const [id, parts] of touched) this.#storeJob(id, parts);
  }

  #storePlan({ buildId, graph, text }: Change & { kind: "graph" }): void {
    this.#sql.exec("INSERT OR REPLACE INTO plan VALUES (?, ?)", buildId, JSON.stringify({ graph, text }));
  }

  #storeOutputs({ jobId, outputs }: Change & { kind: "outputs" }): void {
    this.#sql.exec("INSERT OR REPLACE INTO output VALUES (?, ?)", jobId, JSON.stringify(outputs));
  }

  #storeJob(id: string, parts: Partial<JobRow>): void {
    const names = Object.keys(parts) as (keyof JobRow)[];
    const set = names.map((name) => `'$.${name}', json(?)`).join(", ");
    const update = `UPDATE build_job SET facts = json_set(facts, ${set}) WHERE id = ? RETURNING 1`;
    const values = names.map((name) => JSON.stringify(parts[name]));
    const isKnown = this.#sql.exec(update, ...values, id).toArray().length > 0;
    if (isKnown || !parts.node) return;
    this.#sql.exec("INSERT INTO build_job VALUES (?, ?, ?)", id, parts.node.buildId, JSON.stringify(parts));
  }

  find(jobId: string): JobRow | undefined {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM build_job WHERE id = ?", jobId);
    return row && readJob(row.facts);
  }

  /** All jobs of a build that can be read, by their ids. */
  of(buildId: string): Map<string, JobRow> {
    const query = "SELECT id, facts FROM build_job WHERE build_id = ?";
    const found = new Map<string, JobRow>();
    for (const { id, facts } of this.#sql.exec<{ id: string; facts: string }>(query, buildId)) {
      try {
        found.set(id, readJob(facts));
      } catch (error) {
        console.error("pool: the row of a job is damaged", id, error);
      }
    }
    return found;
  }

  /** None where it cannot be read. */
  plan(buildId: string): PlanRow | undefined {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM plan WHERE build_id = ?", buildId);
    try {
      return row && readPlan(row.facts);
    } catch (error) {
      console.error("pool: the row of a plan is damaged", buildId, error);
      return undefined;
    }
  }

  /** The plan of a build, with what its ended jobs gave. */
  planOf(buildId: string): PlanOfBuild | undefined {
    const plan = this.plan(buildId);
    if (!plan) return undefined;
    const ended = [...this.of(buildId).values()].flatMap(({ node: { id, end } }) => (end ? [{ id, end }] : []));
    const jobs = Object.fromEntries(ended.map(({ id, end }) => [id, { end, outputs: this.outputs(id) }]));
    return { ...plan, jobs };
  }

  outputs(jobId: string): Record<string, string> {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM output WHERE job_id = ?", jobId);
    return row ? (JSON.parse(row.facts) as Record<string, string>) : {};
  }
}

/** Deletes all that is stored of the jobs of these builds, of which `ids` is a JSON list. */
export const deleteJobs = (sql: SqlStorage, ids: string): void => {
  const jobs = "SELECT id FROM build_job WHERE build_id IN (SELECT value FROM json_each(?))";
  sql.exec(`DELETE FROM report WHERE build_id IN (${jobs})`, ids);
  sql.exec(`DELETE FROM output WHERE job_id IN (${jobs})`, ids);
  sql.exec("DELETE FROM build_job WHERE build_id IN (SELECT value FROM json_each(?))", ids);
  sql.exec("DELETE FROM plan WHERE build_id IN (SELECT value FROM json_each(?))", ids);
};
