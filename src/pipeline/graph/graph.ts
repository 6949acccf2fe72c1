import type { Feature } from "../../protocol/jobs.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { Role } from "../../protocol/token.ts";

/*
 * The planned jobs of a build, from its file. The service creates them once, when it accepts the plan, and never
 * changes them.
 */

/** A value of an axis: a text as written, or true or false. */
export type MatrixValue = string | boolean;
export type Matrix = Record<string, MatrixValue>;

export interface JobGraph {
  /** SHA-256 of the file's text, in hexadecimal digits. If the file includes other files, SHA-256 of `hashedText`. */
  hash: string;
  /** The path of the file in the commit; null for a definition in the pipeline's record. */
  path: string | null;
  commitSha: string | null;
  /** Whether the first failure of a job ends all others. */
  failFast: boolean;
  /** The jobs in topological order: a job follows everything that it needs. */
  jobs: GraphJob[];
  facts: GraphFacts;
  /** The features that an agent needs to run the jobs; absent if they need none. */
  features?: Feature[];
}

/** The facts that conditions of jobs can read. They are fixed when the plan is created. */
export interface GraphFacts {
  build: Record<string, unknown>;
  repository: Record<string, unknown>;
  /** Plain variables that a condition names. */
  vars: Record<string, string>;
  /** Whether a changed file matches, by pattern. A pattern without an answer counts as true. */
  changed: Record<string, boolean>;
}

/** One job, or one combination of a matrix. */
export interface GraphJob {
  id: string;
  /** The job's key, which is unique in the build: `test`, or `test (26.10, phone)`. */
  key: string;
  /** The job's key in the file. Jobs of one matrix share it. */
  definition: string;
  /** The name for people. */
  name: string;
  /** The job's combination; null for a job without a matrix. */
  matrix: Matrix | null;
  /** The needs by definition. A job needs all combinations of a matrix. */
  needs: { definition: string; isOptional: boolean }[];
  /** The expression of `if`, without `${{ }}`. Null means success(). */
  condition: string | null;
  mayFail: boolean;
  /** Whether the first failure in its matrix ends the matrix's other jobs. */
  failFast: boolean;
  /** Maximum jobs of its matrix that may be leased at a time. */
  maxParallel: number | null;
  concurrency: Concurrency | null;
  gate: Gate | null;
  /** The names of its variable groups. */
  groups: string[];
  requires: Requires;
  timeoutSeconds: number;
  /** Retries after the job's steps failed. Absent without retries. */
  retry?: number;
  /** Whether the job has steps. A job without steps is done as soon as it could run. */
  hasSteps: boolean;
}

export interface Concurrency {
  /** The group's name, which is unique in the repository. Letter case does not count. */
  group: string;
  limit: number;
  whenBusy: "wait" | "cancel-running";
}

/** The gate of a job. A person must approve the job after its needs have ended, before an agent gets it. */
export interface Gate {
  message: string | null;
  by: Role;
  timeoutHours: number;
  /** The state at the git host while the build waits only for gates. */
  hostStatus: "success" | "pending";
}
