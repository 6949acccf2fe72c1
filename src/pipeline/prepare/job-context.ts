import type { Needs } from "../../protocol/jobs.ts";
import type { JobContextStatus } from "../expression/functions.ts";
import type { Matrix } from "../graph/graph.ts";
import { prependFolders } from "./path-file.ts";

/** The values that a job's expressions can read before its first step runs. */
export interface JobContext {
  /** The composed environment and the variables that the service adds. */
  env: Record<string, string>;
  secretKeys: string[];
  /** Keys of `env` that the run itself set: the file cannot override them. */
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
    /** The commit that changes are counted from; null where nothing tells. */
    base: string | null;
    schedule: string | null;
    /** False for the code of a fork, or of an author who is not trusted: there are no secrets then. */
    trusted: boolean;
  };
  /** Paths that the build's commits changed; none are given where nothing tells. */
  changedFiles?: readonly string[] | null;
  repository: { id: string; fullName: string; cloneUrl: string };
  agent: { id: string; name: string; platform: "macos" | "linux" | "windows" | "other" };
  /** The combination of a job in `jobs`; null for one without a matrix. Absent where the file has only steps. */
  matrix?: Matrix | null;
  /** How the jobs that it needs have ended. Absent where the file has only steps. */
  needs?: Needs;
}

export type StepOutcome = "success" | "failure" | "cancelled" | "skipped";

/** The result of a step: its `outcome`, and the `conclusion` after `continue-on-error` is applied. */
interface StepResult {
  outcome: StepOutcome;
  conclusion: StepOutcome;
  exitCode: number | null;
  outputs: Record<string, string>;
}

/** The state of a job between two steps; `env` has what steps wrote to MILLRACE_ENV, `path` to MILLRACE_PATH. */
export interface JobState {
  status: JobContextStatus;
  steps: StepResult[];
  env: Record<string, string>;
  /** Folders before the PATH that steps would have otherwise: what is searched first, first. */
  path: string[];
}

export const INITIAL_JOB_STATE: JobState = { status: "success", steps: [], env: {}, path: [] };

/** How a step ended, with what it wrote to MILLRACE_OUTPUT, MILLRACE_ENV and MILLRACE_PATH. */
export interface StepEnd {
  outcome: StepOutcome;
  exitCode: number | null;
  outputs: Record<string, string>;
  env: Record<string, string>;
  /** Folders in the order written. */
  path: string[];
}

/** The state after one more step. A cancelled job stays cancelled; a failure with `continue-on-error` is ignored. */
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

/** The state after something besides the steps has failed. */
export const asFailed = (state: JobState): JobState =>
  state.status === "success" ? { ...state, status: "failure" } : state;

/** The state after a cancel: only steps whose `if` allows it still run. */
export const afterCancel = (state: JobState): JobState => ({ ...state, status: "cancelled" });
