import { evaluateCondition } from "../expression/evaluate.ts";
import { folderProblem } from "../fields/step-fields.ts";
import { LocatedMistake, type Mistake } from "../mistake.ts";
import type { Plan, PlanStep, Retry, Shell, Template } from "../parse/plan.ts";
import type { JobContext, JobState } from "./job-context.ts";
import { locateMistakes, StepEnvironment } from "./step-environment.ts";

/** A step to run. Its `env` overrides the variables that steps inherit from the agent. */
export interface StepToRun {
  kind: "run";
  name: string;
  shell: Shell;
  script: string;
  env: Record<string, string>;
  /** Folders to search before the step's original PATH. */
  path: string[];
  /** The folder as written, relative to the checkout. Null is the checkout itself. */
  workingDirectory: string | null;
  timeoutMinutes: number | null;
  retry: Retry | null;
  continueOnError: boolean;
  /** Values derived from secrets. Mask them before the step begins. */
  masks: string[];
}

/** What to do about a step: run it, skip it, or fail it because of a mistake in the file. */
export type PreparedStep =
  | StepToRun
  | { kind: "skip"; name: string }
  | { kind: "mistake"; name: string; mistake: Mistake };

const renderFolder = (template: Template, step: PlanStep, environment: StepEnvironment): string => {
  const folder = environment.render(template).text;
  const message = folderProblem(folder);
  if (message === null) return folder;
  const expression = template.find((part) => typeof part !== "string");
  throw new LocatedMistake({ ...(expression?.positionAt(0) ?? step.position), message });
};

const stepToRun = (step: PlanStep, name: string, path: string[], environment: StepEnvironment): StepToRun => {
  environment.setAll(step.env);
  const workingDirectory = step.workingDirectory && renderFolder(step.workingDirectory, step, environment);
  const references = step.run.references.map(({ name, value }) => [name, environment.render([value]).text]);
  return {
    kind: "run",
    name,
    shell: step.shell,
    script: step.run.text,
    env: { ...environment.toObject(), ...Object.fromEntries(references) },
    path,
    workingDirectory: workingDirectory || null,
    timeoutMinutes: step.timeoutMinutes,
    retry: step.retry,
    continueOnError: step.continueOnError,
    masks: [...environment.masks],
  };
};

const shouldRun = ({ if: condition }: PlanStep, { scope }: StepEnvironment): boolean =>
  condition
    ? locateMistakes(condition, () => evaluateCondition(condition.expression, scope))
    : scope.status === "success";

/**
 * Returns the name of a skipped step. Returns null if the name's expressions cannot be evaluated, because they may read
 * steps that never ran.
 */
const skippedName = (step: PlanStep, environment: StepEnvironment): string | null => {
  try {
    return step.name && environment.render(step.name).shown;
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    return null;
  }
};

/**
 * Evaluates all expressions of the step at `index`. The environment has the following layers, and later ones win: the
 * composed variables, the file's `env`, MILLRACE_ENV of earlier steps, the step's `env`, and the keys that the run set.
 */
export const prepareStep = (plan: Plan, index: number, context: JobContext, state: JobState): PreparedStep => {
  const step = plan.job.steps[index]!;
  let name = step.firstLine;
  try {
    const environment = new StepEnvironment(plan, context, state);
    environment.setAll(plan.env);
    for (const [key, value] of Object.entries(state.env)) environment.set(key, value);
    if (step.inputs) environment.enter(step.inputs);
    if (!shouldRun(step, environment)) return { kind: "skip", name: skippedName(step, environment) ?? name };
    if (step.name) name = environment.render(step.name).shown || name;
    return stepToRun(step, name, state.path, environment);
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    return { kind: "mistake", name, mistake: error.mistake };
  }
};

/**
 * Returns the names of the steps before the first one runs. The script's first line replaces a name with an expression.
 */
export const stepNames = (plan: Plan): string[] =>
  plan.job.steps.map((step) =>
    step.name?.every((part) => typeof part === "string") ? step.name.join("") : step.firstLine,
  );
