import type { Feature } from "../../protocol/jobs.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { Role } from "../../protocol/token.ts";

/* The planned jobs of a build, as its file was read. Made once, when the plan is accepted, and never changed. */

/** A value of an axis: a text as written, or true and false. */
export type MatrixValue = string | boolean;
export type Matrix = Record<string, MatrixValue>;

export interface JobGraph {
  /** SHA-256 of the file's text, in hexadecimal digits; of `hashedText` where it includes others. */
  hash: string;
  /** Where the file lies in the commit; null for a definition that stands in the pipeline's record. */
  path: string | null;
  commitSha: string | null;
  /** Whether the first failure of a job ends all others. */
  failFast: boolean;
  /** In topological order: a job stands behind all that it needs. */
  jobs: GraphJob[];
  facts: GraphFacts;
  /** What the agent's program must support to run the jobs; absent where they need nothing special. */
  features?: Feature[];
}

/** What conditions of jobs can read, as it was when the plan was made. */
export interface GraphFacts {
  build: Record<string, unknown>;
  repository: Record<string, unknown>;
  /** Plain variables that a condition names. */
  vars: Record<string, string>;
  /** By pattern: whether a file changed that it matches. One that nobody answered counts as true. */
  changed: Record<string, boolean>;
}

/** One job, or one combination of a matrix. */
export interface GraphJob {
  id: string;
  /** Unique in the build: `test`, or `test (26.10, phone)`. */
  key: string;
  /** The key in the file: jobs of one matrix share it. */
  definition: string;
  /** For people. */
  name: string;
  /** Null for a job without a matrix. */
  matrix: Matrix | null;
  /** By their definitions: all combinations of a matrix are needed. */
  needs: { definition: string; isOptional: boolean }[];
  /** The expression of `if`, without `${{ }}`; null: success(). */
  condition: string | null;
  mayFail: boolean;
  /** Whether the first failure of one of its matrix ends the others of it. */
  failFast: boolean;
  /** Jobs of its matrix that may be leased at a time. */
  maxParallel: number | null;
  concurrency: Concurrency | null;
  gate: Gate | null;
  /** Names of variable groups that it asks for. */
  groups: string[];
  requires: Requires;
  timeoutSeconds: number;
  /** Further tries after its steps failed. Absent: none. */
  retry?: number;
  /** Without steps it is done as soon as it might run. */
  hasSteps: boolean;
}

export interface Concurrency {
  /** Unique in the repository; letter case does not count. */
  group: string;
  limit: number;
  whenBusy: "wait" | "cancel-running";
}

/** A person has to let the job run, after its needs have ended and before an agent gets it. */
export interface Gate {
  message: string | null;
  by: Role;
  timeoutHours: number;
  /** What the git host shows while the build waits for gates alone. */
  hostStatus: "success" | "pending";
}
