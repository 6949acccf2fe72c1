import type { JobContextStatus } from "../expression/functions.ts";
import { prepended } from "./path-file.ts";

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
    path: end.path.length === 0 ? state.path : prepended(end.path, state.path),
  };
};

/** The state after something besides the steps has failed. */
export const asFailed = (state: JobState): JobState =>
  state.status === "success" ? { ...state, status: "failure" } : state;

/** The state after a cancel: only steps whose `if` allows it still run. */
export const afterCancel = (state: JobState): JobState => ({ ...state, status: "cancelled" });
