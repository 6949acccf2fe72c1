import type { Plan } from "../../domain/plan/plan.ts";
import { stepNames } from "../../domain/plan/prepare-step.ts";
import type { Step } from "../../protocol/build.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { BuildLog } from "../log/build-log.ts";

/** The rows of a build's steps. Each change reports all of them. */
export class StepReport {
  readonly #log: BuildLog;
  readonly #onChange: (steps: Step[]) => void;
  readonly #rows: Step[];

  constructor(plan: Plan, log: BuildLog, onChange: (steps: Step[]) => void) {
    this.#log = log;
    this.#onChange = onChange;
    const names = stepNames(plan);
    this.#rows = plan.job.steps.map(({ id }, index) => ({
      id,
      name: this.displayName(names[index] ?? ""),
      status: "pending",
      exitCode: null,
      startedAt: null,
      finishedAt: null,
      logOffset: null,
    }));
  }

  /** A step's name as people see it: masked, on one line, not too long. */
  displayName(name: string): string {
    return this.#log.mask(name).trim().replace(/\s+/g, " ").slice(0, LIMITS.stepNameCharacters);
  }

  update(index: number, change: Partial<Step>): void {
    this.#rows[index] = { ...this.#rows[index]!, ...change };
    this.#onChange([...this.#rows]);
  }
}
