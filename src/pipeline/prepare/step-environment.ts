import { KIB } from "../../protocol/units.ts";
import { type Data, Dictionary, textData, toData } from "../expression/data.ts";
import { type EvaluationScope, evaluateText } from "../expression/evaluate.ts";
import {
  type Contexts,
  contextOfVariables,
  fixedContext,
  makeScope,
  matrixContext,
  needsContext,
  outputsContext,
} from "../expression/scope.ts";
import { inputProblem, parseInput } from "../fields/input-fields.ts";
import { ExpressionMistake, LocatedMistake } from "../mistake.ts";
import type { EnvEntry, InputScope, LocatedExpression, Plan, Template } from "../parse/plan.ts";
import type { JobContext, JobState } from "./job-context.ts";

/** The context `inputs`. An input that could not be evaluated is a mistake only in the steps that read it. */
class InputsContext extends Dictionary {
  readonly #mistakes: Map<string, LocatedMistake>;

  constructor(pairs: Map<string, Data>, mistakes: Map<string, LocatedMistake>) {
    super(pairs, () => ({ message: "This file has no such input", always: true }));
    this.#mistakes = mistakes;
  }
  override get(key: string): Data | undefined {
    const mistake = this.#mistakes.get(key);
    if (mistake) throw mistake;
    return super.get(key);
  }
  override pairs(): ReturnType<Dictionary["pairs"]> {
    for (const mistake of this.#mistakes.values()) throw mistake;
    return super.pairs();
  }
}

type Render = (template: Template) => { text: string; isSecret: boolean };
type ComputedInput = Exclude<
  InputScope["values"] extends Map<string, infer Value> ? Value : never,
  string | number | boolean | null
>;

const evaluateInput = (input: ComputedInput, render: Render): Data => {
  const { text: literal, isSecret } = render(input.template);
  const value = parseInput(literal, input);
  if (value === undefined) throw new LocatedMistake({ ...input.position, message: inputProblem(input) });
  return typeof value === "string" ? textData(value, isSecret) : toData(value, isSecret);
};

/** Creates the context `inputs` of a file. `render` evaluates the values in `with` of the including file. */
const inputsDictionary = ({ values }: InputScope, render: Render): Dictionary => {
  const mistakes = new Map<string, LocatedMistake>();
  const pairs = new Map<string, Data>();
  for (const [name, value] of values) {
    if (typeof value !== "object" || value === null) {
      pairs.set(name, toData(value));
      continue;
    }
    try {
      pairs.set(name, evaluateInput(value, render));
    } catch (error) {
      if (!(error instanceof LocatedMistake)) throw error;
      mistakes.set(name, error);
    }
  }
  return new InputsContext(pairs, mistakes);
};

/** Maximum bytes in the value of one variable. Linux passes no longer value to a program (MAX_ARG_STRLEN). */
export const ENV_VALUE_LIMIT = 128 * KIB - 512;

/** The minimum length of a masked value derived from a secret. Shorter values would hide half of the log. */
const MIN_MASK_LENGTH = 4;

/** Adds the position in the file to a mistake that evaluating `value` throws. @throws {LocatedMistake} */
export const locateMistakes = <Value>(value: LocatedExpression, evaluate: () => Value): Value => {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionMistake)) throw error;
    const { message, suggestion } = error;
    const position = value.positionAt(error.offset);
    throw new LocatedMistake({ ...position, message, ...(suggestion === undefined ? {} : { suggestion }) });
  }
};

const evaluateForEnvironment = (value: LocatedExpression, scope: EvaluationScope) =>
  locateMistakes(value, () => {
    const result = evaluateText(value.expression, scope);
    if (result.text.includes("\0")) throw new ExpressionMistake("The result has a NUL character");
    if (new TextEncoder().encode(result.text).byteLength > ENV_VALUE_LIMIT)
      throw new ExpressionMistake("The result is too large for an environment variable");
    return result;
  });

const objectContext = (values: object): Dictionary =>
  fixedContext(Object.entries(values).map(([key, value]) => [key, toData(value)]));

/** Creates the context `steps`. It contains the ended steps that have an id. */
const stepsContext = (plan: Plan, state: JobState): Dictionary =>
  fixedContext(
    plan.job.steps.flatMap(({ id }, index) => {
      const result = state.steps[index];
      if (id === null || !result) return [];
      const { outcome, conclusion, exitCode } = result;
      const values = Object.entries({ outcome, conclusion, exitCode }).map(([key, value]): [string, Data] => [
        key,
        toData(value),
      ]);
      const outputs = outputsContext(Object.entries(result.outputs).map(([key, value]) => [key, textData(value)]));
      return [[id, fixedContext([...values, ["outputs", outputs]])] as const];
    }),
  );

/**
 * Creates the contexts `vars`, `secrets` and `env`. `env` has all variables. In an untrusted build each secret is null.
 */
const variableContexts = ({ env, secretKeys, build }: JobContext): Record<"vars" | "secrets" | "env", Dictionary> => {
  const secretSet = new Set(secretKeys);
  const entries = Object.entries(env).map(([key, value]): [string, Data] => [key, textData(value, secretSet.has(key))]);
  const secrets = entries.filter(([key]) => secretSet.has(key));
  const vars = entries.filter(([key]) => !secretSet.has(key));
  const plainSet = new Set(vars.map(([key]) => key));
  return {
    vars: contextOfVariables(vars, { keys: secretSet, message: "This is a secret", context: "secrets" }),
    secrets: build.trusted
      ? contextOfVariables(secrets, { keys: plainSet, message: "This is not a secret", context: "vars" })
      : outputsContext(secrets),
    env: contextOfVariables([...vars, ...secrets]),
  };
};

const makeContexts = (plan: Plan, context: JobContext, state: JobState): Contexts => ({
  ...variableContexts(context),
  build: objectContext(context.build),
  repository: objectContext(context.repository),
  agent: objectContext(context.agent),
  steps: stepsContext(plan, state),
  job: objectContext({ status: state.status }),
  ...(context.matrix === undefined ? {} : { matrix: matrixContext(context.matrix) }),
  ...(context.needs === undefined ? {} : { needs: needsContext(context.needs) }),
});

/** The environment of one step while its layers are applied, and the secret values that appear on the way. */
export class StepEnvironment {
  readonly env: Dictionary;
  scope: EvaluationScope;
  readonly masks = new Set<string>();
  readonly #secretKeys: Set<string>;
  readonly #runKeys: Set<string>;
  readonly #makeScope: (contexts: Partial<Contexts>) => EvaluationScope;

  constructor(plan: Plan, context: JobContext, state: JobState) {
    this.#secretKeys = new Set(context.secretKeys);
    this.#runKeys = new Set(context.runKeys);
    const contexts = makeContexts(plan, context, state);
    this.env = contexts.env;
    this.#makeScope = (more) => makeScope({ ...contexts, ...more }, state.status, context.changedFiles);
    this.scope = this.#makeScope({});
  }

  /** From now on, expressions read the inputs of an included file. The inputs' values use the variables set so far. */
  enter(inputs: InputScope): void {
    const env = contextOfVariables(this.env.pairs().map(({ key, value }) => [key, value] as const));
    const makeInputs = (scope: InputScope): Dictionary => {
      const around = this.#makeScope(scope.outer ? { env, inputs: makeInputs(scope.outer) } : { env });
      return inputsDictionary(scope, (template) => this.render(template, around));
    };
    this.scope = this.#makeScope({ inputs: makeInputs(inputs) });
  }

  /** Sets a key, but never a key that the run itself set. A secret key stays secret whatever its value is. */
  set(key: string, value: string, isSecret = false): void {
    if (this.#runKeys.has(key)) return;
    const secret = isSecret || this.#secretKeys.has(key);
    if (secret) this.#mask(value);
    this.env.set(key, textData(value, secret));
  }

  setAll(entries: EnvEntry[]): void {
    for (const { key, value } of entries) {
      const rendered = this.render(value);
      this.set(key, rendered.text, rendered.isSecret);
    }
  }

  /**
   * Returns a template's text. `shown` has `***` in place of secrets.
   * @throws {LocatedMistake} if an expression cannot be evaluated
   */
  render(template: Template, scope = this.scope): { text: string; shown: string; isSecret: boolean } {
    const result = { text: "", shown: "", isSecret: false };
    for (const part of template) {
      const value = typeof part === "string" ? { text: part, isSecret: false } : evaluateForEnvironment(part, scope);
      if (value.isSecret) this.#mask(value.text);
      result.text += value.text;
      result.shown += value.isSecret ? "***" : value.text;
      result.isSecret ||= value.isSecret;
    }
    return result;
  }

  /** Returns all variables in the form that a program receives. */
  toObject(): Record<string, string> {
    return Object.fromEntries(this.env.pairs().map(({ key, value }) => [key, value.coerceString()]));
  }

  #mask(value: string): void {
    if (value.length >= MIN_MASK_LENGTH) this.masks.add(value);
  }
}
