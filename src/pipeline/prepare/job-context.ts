import type { Needs } from "../../protocol/jobs.ts";
import type { JobContextStatus } from "../expression/functions.ts";
import type { Matrix } from "../graph/graph.ts";
import { prependFolders } from "./path-file.ts";

/** The values that a job's expressions can read before its first step runs. */
export interface JobContext {
  /** The composed environment and the variables that the service adds. */
  env: Record<string, string>;
  secretKeys: string[];
  /** Keys of `env` that the run itself set. The file cannot override them. */
  runKeys: string[];
  build: {
    id: string;
    number: number;
    branch: string;
    commit: string | null;
    message: string | null;
    attempt: number;
    trigger: string;
    event: string;
    ref: string;
    tag: string | null;
    pull: { number: number; base: string | null; branch: string } | null;
    /** The commit with which changes are compared; null if unknown. */
    base: string | null;
    schedule: string | null;
    /** Whether the build is trusted. False for the code of a fork or of an untrusted author, which gets no secrets. */
    trusted: boolean;
  };
  /** The paths that the build's commits changed; absent or null if unknown. */
  changedFiles?: readonly string[] | null;
  repository: { id: string; fullName: string; cloneUrl: string };
  agent: { id: string; name: string; platform: "macos" | "linux" | "windows" | "other" };
  /** The combination of a job in `jobs`; null for a job without a matrix. Absent if the file has only steps. */
  matrix?: Matrix | null;
  /** The results of the jobs that the job needs. Absent if the file has only steps. */
  needs?: Needs;
}

export type StepOutcome = "success" | "failure" | "cancelled" | "skipped";

/** The result of a step: its `outcome`, and its `conclusion`, to which `continue-on-error` is applied. */
interface StepResult {
  outcome: StepOutcome;
  conclusion: StepOutcome;
  exitCode: number | null;
  outputs: Record<string, string>;
}

/**
 * The state of a job between two steps. `env` has the values in MILLRACE_ENV, and `path` the folders in MILLRACE_PATH.
 */
export interface JobState {
  status: JobContextStatus;
  steps: StepResult[];
  env: Record<string, string>;
  /** Folders to search before the original PATH of steps, in the order of the search. */
  path: string[];
}

export const INITIAL_JOB_STATE: JobState = { status: "success", steps: [], env: {}, path: [] };

/** How a step ended, with its values in MILLRACE_OUTPUT, MILLRACE_ENV and MILLRACE_PATH. */
export interface StepEnd {
  outcome: StepOutcome;
  exitCode: number | null;
  outputs: Record<string, string>;
  env: Record<string, string>;
  /** Folders in the order written. */
  path: string[];
}

/**
 * Returns the state after one more step. A cancelled job stays cancelled. A failure with `continue-on-error` does not
 * count.
 */
export const afterStep = (state: JobState, step: { continueOnError: boolean }, end: StepEnd): JobState => {
  const forgiven = end.outcome === "failure" && step.continueOnError;
  const conclusion = forgiven ? "success" : end.outcome;
  const { outcome, exitCode, outputs } = end;
  const worse = conclusion === "cancelled" || (conclusion === "failure" && state.status === "success");
  return {
    status: worse ? conclusion : state.status,
    steps: [...state.steps, { outcome, conclusion, exitCode, outputs }],
    env: { ...state.env, ...end.env },
    path: end.path.length === 0 ? state.path : prependFolders(end.path, state.path),
  };
};

/** Returns the state after a failure outside the steps. */
export const asFailed = (state: JobState): JobState =>
  state.status === "success" ? { ...state, status: "failure" } : state;

/** Returns the state after a cancel. Only steps whose `if` allows it still run. */
export const afterCancel = (state: JobState): JobState => ({ ...state, status: "cancelled" });
