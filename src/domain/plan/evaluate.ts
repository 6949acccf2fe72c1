import { type Dictionary, text, toData } from "../expression/data.ts";
import { evaluateCondition, evaluateText, type Scope } from "../expression/evaluate.ts";
import { ExpressionMistake } from "../expression/mistake.ts";
import { outputs, scopeOf, shaped, variables } from "../expression/scope.ts";
import type { JobSoFar } from "./job-so-far.ts";
import type { Mistake } from "./mistake.ts";
import type { EnvEntry, PlacedExpression, Plan, PlanStep, Shell, Template } from "./plan.ts";
import { folderProblem } from "./working-directory.ts";

/** What is known of the job before its first step. */
export interface JobFacts {
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
class PlacedMistake extends Error {
  readonly mistake: Mistake;
  constructor(mistake: Mistake) {
    super(mistake.message);
    this.mistake = mistake;
  }
}

const placed = <Value>(value: PlacedExpression, compute: () => Value): Value => {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof ExpressionMistake)) throw error;
    const { message, suggestion } = error;
    throw new PlacedMistake({
      ...value.at(error.offset),
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }
};

const evaluated = (value: PlacedExpression, scope: Scope) =>
  placed(value, () => {
    const result = evaluateText(value.expression, scope);
    if (result.text.includes("\0")) throw new ExpressionMistake("The result has a NUL character");
    if (new TextEncoder().encode(result.text).byteLength > ENV_VALUE_LIMIT)
      throw new ExpressionMistake("The result is too large for an environment variable");
    return result;
  });

/** The environment while it is being laid on, and the values of secrets that came up on the way. */
class Layers {
  readonly env: Dictionary;
  readonly scope: Scope;
  readonly masks = new Set<string>();
  readonly #secretKeys: Set<string>;
  readonly #runKeys: Set<string>;

  constructor(plan: Plan, facts: JobFacts, soFar: JobSoFar) {
    this.#secretKeys = new Set(facts.secretKeys);
    this.#runKeys = new Set(facts.runKeys);
    const entries = Object.entries(facts.env);
    const secret = entries
      .filter(([key]) => this.#secretKeys.has(key))
      .map(([key, value]) => [key, text(value, true)] as const);
    const plain = entries
      .filter(([key]) => !this.#secretKeys.has(key))
      .map(([key, value]) => [key, text(value)] as const);
    this.env = variables([...plain, ...secret]);
    const steps = plan.job.steps.flatMap((step, index) => {
      const result = soFar.steps[index];
      if (step.id === null || !result) return [];
      const { outcome, conclusion, exitCode } = result;
      const pairs = Object.entries({ outcome, conclusion, exitCode }).map(
        ([key, value]) => [key, toData(value)] as const,
      );
      const given = outputs(Object.entries(result.outputs).map(([key, value]) => [key, text(value)]));
      return [[step.id, shaped([...pairs, ["outputs", given]])] as const];
    });
    const fixed = (facts: Record<string, unknown>) =>
      shaped(Object.entries(facts).map(([key, value]) => [key, toData(value)]));
    this.scope = scopeOf(
      {
        vars: variables(plain, { keys: this.#secretKeys, message: "This is a secret", context: "secrets" }),
        secrets: variables(secret, {
          keys: new Set(plain.map(([key]) => key)),
          message: "This is not a secret",
          context: "vars",
        }),
        env: this.env,
        build: fixed(facts.build),
        repository: fixed(facts.repository),
        agent: fixed(facts.agent),
        steps: shaped(steps),
        job: fixed({ status: soFar.status }),
      },
      soFar.status,
    );
  }

  /** Lays one key on top. The run's own keys stay, and a secret key stays secret whatever its value. */
  lay(key: string, value: string, isSecret = false): void {
    if (this.#runKeys.has(key)) return;
    const secret = isSecret || this.#secretKeys.has(key);
    if (secret) this.mask(value);
    this.env.set(key, text(value, secret));
  }

  mask(value: string): void {
    if (value.length >= MASK_LENGTH) this.masks.add(value);
  }

  /** A template's text; `shown` has `***` for what came from a secret. */
  fill(template: Template): { text: string; shown: string; isSecret: boolean } {
    const whole = { text: "", shown: "", isSecret: false };
    for (const part of template) {
      const value = typeof part === "string" ? { text: part, isSecret: false } : evaluated(part, this.scope);
      if (value.isSecret) this.mask(value.text);
      whole.text += value.text;
      whole.shown += value.isSecret ? "***" : value.text;
      whole.isSecret ||= value.isSecret;
    }
    return whole;
  }

  layAll(entries: EnvEntry[]): void {
    for (const { key, value } of entries) {
      const filled = this.fill(value);
      this.lay(key, filled.text, filled.isSecret);
    }
  }
}

const folderOf = (template: Template, { place }: PlanStep, layers: Layers): string => {
  const folder = layers.fill(template).text;
  const message = folderProblem(folder);
  if (message === null) return folder;
  const expression = template.find((part) => typeof part !== "string");
  throw new PlacedMistake({ ...(expression?.at(0) ?? place), message });
};

const toRun = (step: PlanStep, name: string, layers: Layers): StepToRun => {
  layers.layAll(step.env);
  const workingDirectory = step.workingDirectory && folderOf(step.workingDirectory, step, layers);
  const references = step.run.references.map(({ name, value }) => [name, layers.fill([value]).text] as const);
  const env = Object.fromEntries([
    ...layers.env.pairs().map((pair) => [pair.key, pair.value.coerceString()] as const),
    ...references,
  ]);
  const { shell, timeoutMinutes, continueOnError } = step;
  return {
    ...{ kind: "run", name, shell, script: step.run.text, env, timeoutMinutes, continueOnError },
    workingDirectory: workingDirectory || null,
    masks: [...layers.masks],
  };
};

/**
 * What to do about the step at `index`, with all that its expressions say. The environment is, a later one over an
 * earlier one: composed, the file's `env`, what steps wrote to MILLRACE_ENV, the step's `env`, the run's own keys.
 */
export const prepareStep = (plan: Plan, index: number, facts: JobFacts, soFar: JobSoFar): PreparedStep => {
  const step = plan.job.steps[index]!;
  let name = step.firstLine;
  try {
    const layers = new Layers(plan, facts, soFar);
    layers.layAll(plan.env);
    for (const [key, value] of Object.entries(soFar.env)) layers.lay(key, value);
    const condition = step.if;
    const wanted = condition
      ? placed(condition, () => evaluateCondition(condition.expression, layers.scope))
      : soFar.status === "success";
    if (!wanted) return { kind: "skip", name: nameOf(step, layers) ?? name };
    if (step.name) name = layers.fill(step.name).shown || name;
    return toRun(step, name, layers);
  } catch (error) {
    if (!(error instanceof PlacedMistake)) throw error;
    return { kind: "mistake", name, mistake: error.mistake };
  }
};

/** The name of a step that is skipped: what its expressions need may never have come to be. */
const nameOf = (step: PlanStep, layers: Layers): string | null => {
  try {
    return step.name && layers.fill(step.name).shown;
  } catch (error) {
    if (!(error instanceof PlacedMistake)) throw error;
    return null;
  }
};

/** The names of the steps as far as they are known before the first: for the build's page. */
export const stepNames = (plan: Plan): string[] =>
  plan.job.steps.map((step) =>
    step.name?.every((part) => typeof part === "string") ? step.name.join("") : step.firstLine,
  );
