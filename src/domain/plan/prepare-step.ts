import { type Dictionary, text, toData } from "../expression/data.ts";
import { evaluateCondition, evaluateText, type Scope } from "../expression/evaluate.ts";
import { ExpressionMistake } from "../expression/mistake.ts";
import { fixedContext, outputsContext, scopeOf, variableContext } from "../expression/scope.ts";
import type { JobState } from "./job-state.ts";
import type { Mistake } from "./mistake.ts";
import type { EnvEntry, LocatedExpression, Plan, PlanStep, Shell, Template } from "./plan.ts";
import { folderProblem } from "./working-directory.ts";

/** What is known of the job before its first step. */
export interface JobContext {
  /** The composed environment, with what the service adds. */
  env: Record<string, string>;
  secretKeys: string[];
  /** Keys of `env` that the run itself set: they outrank the file's. */
  runKeys: string[];
  build: {
    id: string;
    number: number;
    branch: string;
    commit: string | null;
    message: string | null;
    attempt: number;
    trigger: string;
  };
  repository: { id: string; fullName: string; cloneUrl: string };
  agent: { id: string; name: string; platform: "macos" | "linux" | "windows" | "other" };
}

/** A step that is to run. `env` goes on top of what the agent's own environment gives to steps. */
export interface StepToRun {
  kind: "run";
  name: string;
  shell: Shell;
  script: string;
  env: Record<string, string>;
  /** As written, relative to the checkout; null is the checkout itself. */
  workingDirectory: string | null;
  timeoutMinutes: number | null;
  continueOnError: boolean;
  /** Values made from secrets, to be masked before the step begins. */
  masks: string[];
}

/** What to do about a step: run it, skip it, or fail the build because the file is wrong there. */
export type PreparedStep =
  | StepToRun
  | { kind: "skip"; name: string }
  | { kind: "mistake"; name: string; mistake: Mistake };

/** Bytes one variable's value may have: Linux gives no program a longer one. */
export const ENV_VALUE_LIMIT = 128 * 1024 - 512;

/** Characters from which on a value made of a secret is masked: shorter ones would blot out half of the log. */
const MASK_LENGTH = 4;

/** A mistake found while a step is prepared, with its place in the file. */
class LocatedMistake extends Error {
  readonly mistake: Mistake;
  constructor(mistake: Mistake) {
    super(mistake.message);
    this.mistake = mistake;
  }
}

const locateMistakes = <Value>(value: LocatedExpression, compute: () => Value): Value => {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof ExpressionMistake)) throw error;
    const { message, suggestion } = error;
    throw new LocatedMistake({
      ...value.positionAt(error.offset),
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }
};

const evaluateForEnvironment = (value: LocatedExpression, scope: Scope) =>
  locateMistakes(value, () => {
    const result = evaluateText(value.expression, scope);
    if (result.text.includes("\0")) throw new ExpressionMistake("The result has a NUL character");
    if (new TextEncoder().encode(result.text).byteLength > ENV_VALUE_LIMIT)
      throw new ExpressionMistake("The result is too large for an environment variable");
    return result;
  });

/** The environment while it is being laid on, and the values of secrets that came up on the way. */
class StepEnvironment {
  readonly env: Dictionary;
  readonly scope: Scope;
  readonly masks = new Set<string>();
  readonly #secretKeys: Set<string>;
  readonly #runKeys: Set<string>;

  constructor(plan: Plan, context: JobContext, state: JobState) {
    this.#secretKeys = new Set(context.secretKeys);
    this.#runKeys = new Set(context.runKeys);
    const entries = Object.entries(context.env);
    const secret = entries
      .filter(([key]) => this.#secretKeys.has(key))
      .map(([key, value]) => [key, text(value, true)] as const);
    const plain = entries
      .filter(([key]) => !this.#secretKeys.has(key))
      .map(([key, value]) => [key, text(value)] as const);
    this.env = variableContext([...plain, ...secret]);
    const steps = plan.job.steps.flatMap((step, index) => {
      const result = state.steps[index];
      if (step.id === null || !result) return [];
      const { outcome, conclusion, exitCode } = result;
      const pairs = Object.entries({ outcome, conclusion, exitCode }).map(
        ([key, value]) => [key, toData(value)] as const,
      );
      const given = outputsContext(Object.entries(result.outputs).map(([key, value]) => [key, text(value)]));
      return [[step.id, fixedContext([...pairs, ["outputs", given]])] as const];
    });
    const fixed = (context: Record<string, unknown>) =>
      fixedContext(Object.entries(context).map(([key, value]) => [key, toData(value)]));
    this.scope = scopeOf(
      {
        vars: variableContext(plain, { keys: this.#secretKeys, message: "This is a secret", context: "secrets" }),
        secrets: variableContext(secret, {
          keys: new Set(plain.map(([key]) => key)),
          message: "This is not a secret",
          context: "vars",
        }),
        env: this.env,
        build: fixed(context.build),
        repository: fixed(context.repository),
        agent: fixed(context.agent),
        steps: fixedContext(steps),
        job: fixed({ status: state.status }),
      },
      state.status,
    );
  }

  /** Lays one key on top. The run's own keys stay, and a secret key stays secret whatever its value. */
  set(key: string, value: string, isSecret = false): void {
    if (this.#runKeys.has(key)) return;
    const secret = isSecret || this.#secretKeys.has(key);
    if (secret) this.mask(value);
    this.env.set(key, text(value, secret));
  }

  mask(value: string): void {
    if (value.length >= MASK_LENGTH) this.masks.add(value);
  }

  /** A template's text; `shown` has `***` for what came from a secret. */
  render(template: Template): { text: string; shown: string; isSecret: boolean } {
    const whole = { text: "", shown: "", isSecret: false };
    for (const part of template) {
      const value =
        typeof part === "string" ? { text: part, isSecret: false } : evaluateForEnvironment(part, this.scope);
      if (value.isSecret) this.mask(value.text);
      whole.text += value.text;
      whole.shown += value.isSecret ? "***" : value.text;
      whole.isSecret ||= value.isSecret;
    }
    return whole;
  }

  setAll(entries: EnvEntry[]): void {
    for (const { key, value } of entries) {
      const filled = this.render(value);
      this.set(key, filled.text, filled.isSecret);
    }
  }
}

const folderOf = (template: Template, { position }: PlanStep, environment: StepEnvironment): string => {
  const folder = environment.render(template).text;
  const message = folderProblem(folder);
  if (message === null) return folder;
  const expression = template.find((part) => typeof part !== "string");
  throw new LocatedMistake({ ...(expression?.positionAt(0) ?? position), message });
};

const runnableStep = (step: PlanStep, name: string, environment: StepEnvironment): StepToRun => {
  environment.setAll(step.env);
  const workingDirectory = step.workingDirectory && folderOf(step.workingDirectory, step, environment);
  const references = step.run.references.map(({ name, value }) => [name, environment.render([value]).text] as const);
  const env = Object.fromEntries([
    ...environment.env.pairs().map((pair) => [pair.key, pair.value.coerceString()] as const),
    ...references,
  ]);
  const { shell, timeoutMinutes, continueOnError } = step;
  return {
    ...{ kind: "run", name, shell, script: step.run.text, env, timeoutMinutes, continueOnError },
    workingDirectory: workingDirectory || null,
    masks: [...environment.masks],
  };
};

/**
 * What to do about the step at `index`, with all that its expressions say. The environment is, a later one over an
 * earlier one: composed, the file's `env`, what steps wrote to MILLRACE_ENV, the step's `env`, the run's own keys.
 */
export const prepareStep = (plan: Plan, index: number, context: JobContext, state: JobState): PreparedStep => {
  const step = plan.job.steps[index]!;
  let name = step.firstLine;
  try {
    const environment = new StepEnvironment(plan, context, state);
    environment.setAll(plan.env);
    for (const [key, value] of Object.entries(state.env)) environment.set(key, value);
    const condition = step.if;
    const wanted = condition
      ? locateMistakes(condition, () => evaluateCondition(condition.expression, environment.scope))
      : state.status === "success";
    if (!wanted) return { kind: "skip", name: nameOf(step, environment) ?? name };
    if (step.name) name = environment.render(step.name).shown || name;
    return runnableStep(step, name, environment);
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    return { kind: "mistake", name, mistake: error.mistake };
  }
};

/** The name of a step that is skipped: what its expressions need may never have come to be. */
const nameOf = (step: PlanStep, environment: StepEnvironment): string | null => {
  try {
    return step.name && environment.render(step.name).shown;
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    return null;
  }
};

/** The names of the steps as far as they are known before the first: for the build's page. */
export const stepNames = (plan: Plan): string[] =>
  plan.job.steps.map((step) =>
    step.name?.every((part) => typeof part === "string") ? step.name.join("") : step.firstLine,
  );
