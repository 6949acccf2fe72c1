import { LineCounter } from "yaml";
import { translateExpression } from "./expression.ts";
import { usesStatus } from "./expression-tree.ts";
import { NoEqual } from "./marks.ts";
import type { Names } from "./names.ts";
import { documentIn, readStepList, Untranslatable } from "./read-workflow.ts";
import { conditionText, find, lineOf, pairsOf, type Source, tokenText } from "./source.ts";
import { type ReadStep, readStep } from "./step.ts";
import { asExpression, replaceNames, type TextsOfNames } from "./substitution.ts";

/*
 * An action of the repository that consists of steps. Its steps replace the step that uses it, with its inputs' values
 * filled in. GitHub runs them one after the other, as it runs a job's steps
 * (https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax#runs-for-composite-actions).
 */

/** A step with its source text. `calls` are the uses of actions that it comes from, the outermost first. */
export interface StepOfCalls {
  step: ReadStep;
  source: Source;
  calls: Call[];
}

interface Call {
  step: ReadStep;
  /** The action's outputs for later steps: names in lower case, texts in terms of the action's own steps. */
  outputs: ReadonlyMap<string, string>;
  isFirst: boolean;
  isLast: boolean;
}

/** GitHub's limit for the depth of nested actions. */
const DEEPEST = 10;
/** The maximum number of steps that actions add to one job. */
const MOST_STEPS = 300;

const refuse = (action: string, why: string): NoEqual => new NoEqual(`${action} (${why})`, "template");

/** Returns the path of an action's folder from the root; undefined for a path that leads out of it. */
const folderOf = (action: string): string | undefined => {
  const parts = action.split("/").filter((one) => one !== "" && one !== ".");
  return parts.length === 0 || parts.includes("..") ? undefined : parts.join("/");
};

interface ActionFile {
  inputs: Map<string, string>;
  outputs: Map<string, string>;
  steps: Record<string, unknown>[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const entriesOf = (value: unknown): [string, Record<string, unknown>][] =>
  Object.entries(isRecord(value) ? value : {}).map(([key, one]) => [key, isRecord(one) ? one : {}]);

const textOf = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

const jsonOf = (action: string, text: string): unknown => {
  try {
    return documentIn(text, new LineCounter()).toJS({ maxAliasCount: -1 });
  } catch (error) {
    if (error instanceof Untranslatable) throw refuse(action, error.message);
    throw error;
  }
};

/** @throws {NoEqual} for anything except an action with steps */
const readAction = (action: string, { beside }: Source): ActionFile => {
  const folder = folderOf(action);
  const text = folder && beside && (beside(`${folder}/action.yml`) ?? beside(`${folder}/action.yaml`));
  if (text === undefined || text === "") throw refuse(action, "its file was not found beside the workflow");
  const file = jsonOf(action, text);
  const runs = isRecord(file) && isRecord(file.runs) ? file.runs : {};
  if (runs.using !== "composite" || !Array.isArray(runs.steps) || !runs.steps.every(isRecord))
    throw refuse(action, "it is a program, not a list of steps");
  const { inputs, outputs } = file as Record<string, unknown>;
  return {
    inputs: new Map(entriesOf(inputs).map(([key, one]) => [key.toLowerCase(), textOf(one.default)])),
    outputs: new Map(entriesOf(outputs).map(([key, one]) => [key.toLowerCase(), textOf(one.value)])),
    steps: runs.steps,
  };
};

/** Returns the inputs of a call. Missing inputs have their defaults. */
const valuesOf = ({ inputs }: ActionFile, call: ReadStep, source: Source): Map<string, string> => {
  const values = new Map(inputs);
  for (const { key, value } of call.inputs)
    if (values.has(key.toLowerCase())) values.set(key.toLowerCase(), tokenText(value, source));
  return values;
};

/** Returns a condition without the expression signs around it. */
const conditionIn = (text: string): string => (/^\s*\$\{\{(.*)\}\}\s*$/s.exec(text)?.[1] ?? text).trim();

/**
 * Returns the condition around the action's steps.
 * @throws {NoEqual} if other keys around them would change what they do
 */
const readCondition = (call: ReadStep, source: Source, file: ActionFile, given: string): string => {
  for (const { key } of pairsOf(call.token))
    if (!["uses", "with", "name", "id", "if"].includes(key))
      throw refuse(call.action, `the step that uses it has \`${key}\``);
  const token = find(call.token, "if");
  const text = token ? conditionText(token, source).trim() : "";
  const condition = conditionIn(text);
  if (condition.includes("${{") || usesStatus(condition))
    throw refuse(call.action, `the step that uses it has \`if: ${text}\``);
  const changesEnv = file.steps.some((step) => step.env !== undefined || /GITHUB_ENV/.test(textOf(step.run)));
  if (changesEnv && /\benv\b/.test(`${condition} ${given}`))
    throw refuse(call.action, "its condition or inputs read variables that its steps change");
  return condition;
};

/** Replaces names in all texts of the value. A condition is an expression even without `${{ }}`. */
const replaceAll = (value: unknown, texts: TextsOfNames, key = ""): unknown => {
  if (typeof value === "string") return replaceNames(value, texts, key === "if");
  if (Array.isArray(value)) return value.map((one) => replaceAll(one, texts));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaceAll(one, texts, name)]));
};

const both = (outer: string, inner: string): string => {
  if (outer === "" || inner === "") return outer + inner;
  return `(${outer}) && (${inner})`;
};

/** Returns the action's own steps as the job has them, and its outputs for later steps. @throws {NoEqual} */
const stepsOf = (
  call: ReadStep,
  source: Source,
  prefix: string,
): { own: StepOfCalls[]; outputs: ReadonlyMap<string, string> } => {
  const file = readAction(call.action, source);
  const inputs = valuesOf(file, call, source);
  const condition = readCondition(call, source, file, [...inputs.values()].join(" "));
  const ids = new Map(
    file.steps.flatMap(({ id }) => (typeof id === "string" ? [[id.toLowerCase(), `${prefix}-${id}`] as const] : [])),
  );
  const texts: TextsOfNames = { inputs, ids, folder: folderOf(call.action)! };
  const steps = file.steps.flatMap((step) => {
    if (usesStatus(textOf(step.if))) throw refuse(call.action, `one of its steps has \`if: ${textOf(step.if)}\``);
    const isMoved = step["working-directory"] !== undefined || /\b(?:cd|pushd)\s/.test(textOf(step.run));
    if (isMoved && /github\.action_path/.test(textOf(step.run)))
      throw refuse(call.action, "one of its scripts names the action's folder, but runs in another");
    const own = replaceAll(step, texts) as Record<string, unknown>;
    const { if: written, id, ...rest } = own;
    const known = conditionIn(textOf(written));
    if (known === "false") return [];
    const when = both(condition, known === "true" ? "" : known);
    return [{ ...(id === undefined ? {} : { id: `${prefix}-${textOf(id)}` }), ...(when ? { if: when } : {}), ...rest }];
  });
  const outputs = new Map<string, string>();
  for (const [key, text] of file.outputs)
    try {
      outputs.set(key, replaceNames(text, texts, false));
    } catch (error) {
      // An untranslatable output becomes a mark where a step reads it.
      if (!(error instanceof NoEqual)) throw error;
    }
  return { own: readSteps(call.action, steps, source), outputs };
};

/** @throws {NoEqual} */
const readSteps = (action: string, steps: object[], { beside }: Source): StepOfCalls[] => {
  if (steps.length === 0) return [];
  try {
    const { tokens, source } = readStepList(steps, action, beside);
    return tokens.map((token) => ({ step: readStep(token, source), source, calls: [] }));
  } catch (error) {
    if (error instanceof Untranslatable) throw refuse(action, error.message);
    throw error;
  }
};

const isLocalAction = ({ action }: ReadStep): boolean => action.startsWith("./");

/** Returns a prefix that distinguishes the steps of one call from the steps of another. */
const prefixOf = ({ id, action, token }: ReadStep): string =>
  id ??
  `${
    folderOf(action)
      ?.split("/")
      .at(-1)
      ?.replaceAll(/[^\w-]/g, "-") ?? "action"
  }-${lineOf(token)}`;

/** Replaces each call of a repository's action by the action's steps. */
export const placeSteps = (steps: StepOfCalls[]): StepOfCalls[] => {
  let left = MOST_STEPS;
  const place = (one: StepOfCalls, depth: number): StepOfCalls[] => {
    if (!isLocalAction(one.step)) return [one];
    try {
      if (depth >= DEEPEST) throw refuse(one.step.action, `more than ${DEEPEST} actions deep`);
      const { own, outputs } = stepsOf(one.step, one.source, prefixOf(one.step));
      left -= own.length;
      if (left < 0) throw refuse(one.step.action, `the job would have more than ${MOST_STEPS} steps of actions`);
      const inner = own.flatMap((step) => place(step, depth + 1));
      return inner.map((step, index) => {
        const call = { step: one.step, outputs, isFirst: index === 0, isLast: index === inner.length - 1 };
        return { ...step, calls: [call, ...step.calls] };
      });
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      return [{ ...one, step: { ...one.step, refusal: error.message } }];
    }
  };
  return steps.flatMap((one) => place(one, 0));
};

/** Returns an action's outputs for later steps, without the untranslatable ones. */
export const outputsOf = ({ outputs }: Call, names: Names): ReadonlyMap<string, string> => {
  const told = new Map<string, string>();
  for (const [name, text] of outputs)
    try {
      told.set(name, translateExpression(asExpression(text), names));
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
    }
  return told;
};
