import { wrongNames } from "../expression/check.ts";
import type { UnknownNames } from "../expression/evaluate.ts";
import { FILE_LIMITS } from "./limits.ts";
import type { Mistake } from "./mistake.ts";
import type { EnvEntry, LocatedExpression, Plan, PlanStep, Template } from "./plan.ts";

/** Keys of the variables that the pipeline's builds receive; those of the service itself may be absent. */
export interface KnownVariables {
  vars: Iterable<string>;
  secrets: Iterable<string>;
}

class VariableChecker {
  readonly mistakes: Mistake[] = [];
  readonly #vars: Set<string>;
  readonly #secrets: Set<string>;
  /** Keys in the environment here; null after a step that may have added more. */
  env: Set<string> | null;

  constructor({ vars, secrets }: KnownVariables) {
    this.#vars = new Set(vars);
    this.#secrets = new Set(secrets);
    this.env = new Set([...this.#vars, ...this.#secrets]);
  }

  expression({ expression, positionAt }: LocatedExpression, unknown: UnknownNames, steps: string[]): void {
    if (this.mistakes.length >= FILE_LIMITS.mistakes) return;
    const variables = { vars: this.#vars, secrets: this.#secrets, env: this.env };
    for (const { offset, message, suggestion } of wrongNames(expression, { steps, variables }, unknown))
      this.mistakes.push({ ...positionAt(offset), message, ...(suggestion === undefined ? {} : { suggestion }) });
  }

  template(template: Template | null, steps: string[]): void {
    for (const part of template ?? []) if (typeof part !== "string") this.expression(part, "mistake", steps);
  }

  /** Each entry may use those above it. */
  entries(entries: EnvEntry[], steps: string[]): void {
    for (const { key, value } of entries) {
      this.template(value, steps);
      this.env?.add(key);
    }
  }

  step(step: PlanStep, steps: string[]): void {
    if (step.if) this.expression(step.if, "null", steps);
    this.template(step.name, steps);
    const outside = this.env;
    this.env = outside && new Set(outside);
    this.entries(step.env, steps);
    this.template(step.workingDirectory, steps);
    for (const { value } of step.run.references) this.expression(value, "mistake", steps);
    this.env = step.run.text.includes("MILLRACE_ENV") ? null : outside;
  }
}

/** Mistakes for each variable in a plan that its build does not have, or has as the other kind. */
export const unknownVariables = (plan: Plan, known: KnownVariables): Mistake[] => {
  const walk = new VariableChecker(known);
  walk.template(plan.name, []);
  walk.entries(plan.env, []);
  const steps: string[] = [];
  for (const step of plan.job.steps) {
    walk.step(step, steps);
    if (step.id) steps.push(step.id);
  }
  return walk.mistakes.slice(0, FILE_LIMITS.mistakes).sort((a, b) => a.line - b.line || a.column - b.column);
};
