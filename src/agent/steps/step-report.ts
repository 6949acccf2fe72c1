import type { Plan } from "../../pipeline/parse/plan.ts";
import { stepNames } from "../../pipeline/prepare/prepare-step.ts";
import type { Step } from "../../protocol/build.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { JobLog } from "../log/job-log.ts";

/** Returns a step's name for people: masked, on one line, not too long. */
const shownName = (log: JobLog, name: string): string =>
  log.mask(name).trim().replace(/\s+/g, " ").slice(0, LIMITS.stepNameCharacters);

/** Returns the steps before the first one runs. */
export const pendingSteps = (plan: Plan, log: JobLog): Step[] => {
  const names = stepNames(plan);
  return plan.job.steps.map(({ id }, index) => ({
    id,
    name: shownName(log, names[index] ?? ""),
    status: "pending",
    exitCode: null,
    startedAt: null,
    finishedAt: null,
    logOffset: null,
  }));
};

/** Returns the initial steps. The first one runs, unless a condition may skip it. */
export const firstSteps = (plan: Plan, log: JobLog): Step[] => {
  const [first, ...others] = pendingSteps(plan, log);
  if (!first || plan.job.steps[0]?.if) return first ? [first, ...others] : [];
  return [{ ...first, status: "running", startedAt: new Date().toISOString() }, ...others];
};

/** The rows for a build's steps. Each change reports all rows. */
export class StepReport {
  readonly #log: JobLog;
  readonly #onChange: (steps: Step[]) => void;
  readonly #rows: Step[];

  constructor(plan: Plan, log: JobLog, onChange: (steps: Step[]) => void) {
    this.#log = log;
    this.#onChange = onChange;
    this.#rows = pendingSteps(plan, log);
  }

  displayName(name: string): string {
    return shownName(this.#log, name);
  }

  update(index: number, change: Partial<Step>): void {
    this.#rows[index] = { ...this.#rows[index]!, ...change };
    this.#onChange([...this.#rows]);
  }
}

/** Reports the summaries of all steps as one text, masked. */
export const joinSummaries = (log: JobLog, report: (whole: string) => void): ((text: string) => void) => {
  let whole = "";
  return (text) => {
    whole = `${whole}${log.mask(text)}`.slice(0, LIMITS.summaryCharacters);
    report(whole);
  };
};
