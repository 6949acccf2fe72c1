import { type KnownNames, wrongNames } from "../expression/check.ts";
import type { UnknownNames } from "../expression/evaluate.ts";
import { FILE_LIMITS } from "../fields/limits.ts";
import { byPlace, type Mistake, placeKey } from "../mistake.ts";
import { inputNames } from "./parse-steps.ts";
import type { EnvEntry, InputScope, JobDefinition, LocatedExpression, Plan, PlanStep, Template } from "./plan.ts";
import { plannedExpressions, planOfJob, toolVersions } from "./plan-contents.ts";

/** The keys of the variables that the pipeline's builds receive. The service's own variables may be absent. */
export interface KnownVariables {
  vars: Iterable<string>;
  secrets: Iterable<string>;
}

class VariableChecker {
  readonly mistakes: Mistake[] = [];
  readonly #vars: Set<string>;
  readonly #secrets: Set<string>;
  /** The keys in the environment at this place; null after a step that may have added other keys. */
  env: Set<string> | null;
  /** The other names in a job's expressions. */
  job: Pick<KnownNames, "job" | "level"> = {};

  /** The names of the inputs of the step's file. */
  #inputs: Pick<KnownNames, "inputs"> = {};
  readonly #checkedScopes = new Set<InputScope>();
  readonly #hasUnread: boolean;

  constructor({ vars, secrets }: KnownVariables, { hasUnread }: Pick<Plan, "hasUnread">) {
    this.#hasUnread = hasUnread === true;
    this.#vars = new Set(vars);
    this.#secrets = new Set(secrets);
    this.env = hasUnread ? null : new Set([...this.#vars, ...this.#secrets]);
  }

  expression({ expression, positionAt }: LocatedExpression, unknown: UnknownNames, steps: string[]): void {
    if (this.mistakes.length >= FILE_LIMITS.mistakes) return;
    const variables = { vars: this.#vars, secrets: this.#secrets, env: this.env };
    const names = { steps, hasUnread: this.#hasUnread, variables, ...this.job, ...this.#inputs };
    for (const { offset, message, suggestion } of wrongNames(expression, names, unknown))
      this.mistakes.push({ ...positionAt(offset), message, ...(suggestion === undefined ? {} : { suggestion }) });
  }

  template(template: Template | null, steps: string[]): void {
    for (const part of template ?? []) if (typeof part !== "string") this.expression(part, "mistake", steps);
  }

  /** Checks entries. Each entry may use those above it. */
  entries(entries: EnvEntry[], steps: string[]): void {
    for (const { key, value } of entries) {
      this.template(value, steps);
      this.env?.add(key);
    }
  }

  /** Checks the values in `with`, once for all steps that use them. */
  #enter(scope: InputScope | undefined, steps: string[]): void {
    if (scope && !this.#checkedScopes.has(scope)) {
      this.#checkedScopes.add(scope);
      this.#enter(scope.outer, steps);
      for (const value of scope.values.values())
        if (typeof value === "object" && value !== null) this.template(value.template, steps);
    }
    this.#inputs = inputNames(scope);
  }

  step(step: PlanStep, steps: string[]): void {
    this.#enter(step.inputs, steps);
    if (step.if) this.expression(step.if, "null", steps);
    this.template(step.name, steps);
    const outside = this.env;
    this.env = outside && new Set(outside);
    this.entries(step.env, steps);
    this.template(step.workingDirectory, steps);
    for (const { value } of step.run.references) this.expression(value, "mistake", steps);
    this.env = step.run.text.includes("MILLRACE_ENV") ? null : outside;
    this.#inputs = {};
  }
}

const checkSteps = (walk: VariableChecker, { job }: Pick<Plan, "job">): string[] => {
  const steps: string[] = [];
  for (const step of job.steps) {
    walk.step(step, steps);
    if (step.id) steps.push(step.id);
  }
  return steps;
};

/** Checks the expressions that are evaluated before the job runs. */
const checkPlanned = (walk: VariableChecker, definition: JobDefinition): void => {
  const { names: job } = definition;
  walk.job = { job, level: "condition" };
  if (definition.if) walk.expression(definition.if, "null", []);
  walk.job = { job, level: "plan" };
  for (const one of plannedExpressions(definition)) walk.expression(one, "mistake", []);
};

const checkJob = (plan: Plan, definition: JobDefinition, variables: KnownVariables): Mistake[] => {
  const walk = new VariableChecker(variables, plan);
  checkPlanned(walk, definition);
  walk.job = { job: definition.names };
  walk.entries([...plan.env, ...definition.env], []);
  const steps = checkSteps(walk, planOfJob(plan, definition));
  for (const { value } of definition.outputs) walk.template(value, steps);
  return walk.mistakes;
};

/** Returns each place once, in the order of the file. */
const inOrder = (mistakes: Mistake[]): Mistake[] => {
  const firstAtPlace = new Map(mistakes.map((one) => [placeKey(one), one]));
  return [...firstAtPlace.values()].slice(0, FILE_LIMITS.mistakes).sort(byPlace);
};

/** Reports each variable in a plan that its build does not have, or has as the other kind of variable. */
export const unknownVariables = (plan: Plan, variables: KnownVariables): Mistake[] => {
  const walk = new VariableChecker(variables, plan);
  walk.template(plan.name, []);
  if (plan.jobs) return inOrder([...walk.mistakes, ...plan.jobs.flatMap((job) => checkJob(plan, job, variables))]);
  for (const version of toolVersions(plan.job.tools)) walk.template(version, []);
  walk.entries(plan.env, []);
  checkSteps(walk, plan);
  return inOrder(walk.mistakes);
};

/**
 * Reports each variable that the build does not have, or has as the other kind of variable, in expressions that are
 * evaluated before any job runs. These are the conditions, names and requirements of jobs.
 */
export const unknownBeforeJobs = (plan: Plan, variables: KnownVariables): Mistake[] =>
  inOrder(
    (plan.jobs ?? []).flatMap((definition) => {
      const walk = new VariableChecker(variables, plan);
      checkPlanned(walk, definition);
      return walk.mistakes;
    }),
  );
