import { keepingKey } from "./actions.ts";
import { translateCondition } from "./expression.ts";
import { usesStatus } from "./expression-tree.ts";
import type { KeepingPlace } from "./kept-files.ts";
import { NoEqual } from "./marks.ts";
import type { Names } from "./names.ts";
import { Comment, type OutList, OutMap } from "./out.ts";
import { conditionText, find, isExpression, type Source, tokenText, type WorkflowToken } from "./source.ts";
import type { ReadStep } from "./step.ts";

/* Steps that replace what the importer could not translate. */

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Creates a step that fails with the reason until a person replaces it. */
export const failingStep = (reason: string, name = "Not translated", condition = new OutMap()): OutMap => {
  const step = new OutMap().set("name", name);
  step.items.push(...condition.items);
  return step.set("run", `echo ${quoted(reason)} >&2\nexit 1`);
};

/** Reasons of a failing step before something whose condition is untranslatable. */
export const CONDITION = {
  ofStep: "the next step has a condition without an equivalent here: write its `if`, then remove this step",
  ofJob: "this job has a condition without an equivalent here: write an `if` for the job, then remove this step",
} as const;

/** Returns the part of an untranslatable condition that says after which results it may be true. */
export const statusOf = (token: WorkflowToken, source: Source): string | undefined => {
  const condition = find(token, "if");
  const text = condition ? conditionText(condition, source).replace(/^\s*\$\{\{|\}\}\s*$/g, "") : "";
  const parts = text.includes("||") ? [] : text.split("&&").map((part) => part.trim());
  return parts.find((part) => /^(?:failure|always|cancelled)\(\)$/.test(part));
};

const conditionIn = (step: OutMap) => {
  for (const item of step.items) if (!(item instanceof Comment) && item.key === "if") return item;
  return undefined;
};

/** Reports whether a step's condition was untranslatable. */
export const isNeverTrue = (step: OutMap): boolean => conditionIn(step)?.value === false;

/** Adds a first step that fails with the reasons. No other step runs after it, whatever its condition. */
export const failFirst = (steps: OutList, reasons: readonly string[]): void => {
  for (const item of steps.items) {
    const condition = "value" in item && item.value instanceof OutMap ? conditionIn(item.value) : undefined;
    if (typeof condition?.value === "string" && usesStatus(condition.value))
      condition.value = `false && (${condition.value})`;
  }
  steps.items.unshift({ value: failingStep(reasons.join("\n")) });
};

/** Reports whether later steps, or jobs that download files, may need a step that the importer could not translate. */
export const isNeeded = (
  { kind, action, token }: ReadStep,
  mark: string,
  { source, names: { job }, artifacts }: KeepingPlace,
): boolean => {
  const mayFail = find(token, "continue-on-error");
  if (mayFail && tokenText(mayFail, source) === "true") return false;
  if (kind === "keeping" && keepingKey(action) === "artifacts")
    return artifacts.some((one) => one.job === job && one.fetchedBy !== null);
  if (kind === "keeping")
    return keepingKey(action) === "downloads" || (mark === "cache-handed-over" && !/\/save$/i.test(action));
  return kind === "run" || kind === "set-up" || kind === "lost";
};

interface StepPlace {
  source: Source;
  withdrawn: ReadonlyMap<string, string>;
}

export const nameOf = (
  { token, action }: ReadStep,
  unit: string,
  { source, withdrawn }: StepPlace,
): string | undefined => {
  const name = find(token, "name");
  if (name && !isExpression(name) && !withdrawn.has(unit)) return tokenText(name, source) || undefined;
  return action === "" || withdrawn.has(unit) ? undefined : action;
};

/** Returns a step's condition; empty for a step that always runs, and for an untranslatable condition. */
export const conditionOf = (
  { token }: ReadStep,
  unit: string,
  names: Names,
  { source, withdrawn }: StepPlace,
): OutMap => {
  const condition = find(token, "if");
  const out = new OutMap();
  if (!condition || withdrawn.has(`${unit}.if`)) return out;
  try {
    return out.set("if", translateCondition(conditionText(condition, source), names), `${unit}.if`);
  } catch (error) {
    if (error instanceof NoEqual) return out;
    throw error;
  }
};
