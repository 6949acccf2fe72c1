import type { JobStatus } from "../expression/functions.ts";

export type Outcome = "success" | "failure" | "cancelled" | "skipped";

/** How a step ended: `outcome` is what happened, `conclusion` what counts after `continue-on-error`. */
export interface StepResult {
  outcome: Outcome;
  conclusion: Outcome;
  exitCode: number | null;
  outputs: Record<string, string>;
}

/** What later steps can know of earlier ones; `env` is what was written to MILLRACE_ENV. */
export interface JobState {
  status: JobStatus;
  steps: StepResult[];
  env: Record<string, string>;
}

export const INITIAL_JOB_STATE: JobState = { status: "success", steps: [], env: {} };

/** What a step left behind. */
export interface StepEnd {
  outcome: Outcome;
  exitCode: number | null;
  outputs: Record<string, string>;
  env: Record<string, string>;
}

/** The job after one more step. A cancelled job stays so; a failed step that may fail changes nothing. */
export const afterStep = (state: JobState, step: { continueOnError: boolean }, end: StepEnd): JobState => {
  const forgiven = end.outcome === "failure" && step.continueOnError;
  const conclusion = forgiven ? "success" : end.outcome;
  const { outcome, exitCode, outputs } = end;
  const worse = conclusion === "cancelled" || (conclusion === "failure" && state.status === "success");
  return {
    status: worse ? conclusion : state.status,
    steps: [...state.steps, { outcome, conclusion, exitCode, outputs }],
    env: { ...state.env, ...end.env },
  };
};

/** The job once it is asked to stop: only steps that ask for it by `if` still run. */
export const afterCancel = (state: JobState): JobState => ({ ...state, status: "cancelled" });
