import { keepingKey } from "./actions.ts";
import { translateCondition } from "./expression.ts";
import { NoEqual } from "./marks.ts";
import type { Names } from "./names.ts";
import { OutMap } from "./out.ts";
import { conditionText, find, isExpression, type Source, tokenText } from "./source.ts";
import type { ReadStep } from "./step.ts";

/* Steps that replace what the importer could not translate. */

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Creates a step that fails with the reason until a person replaces it. */
export const failingStep = (reason: string, name = "Not taken over", condition = new OutMap()): OutMap => {
  const step = new OutMap().set("name", name);
  step.items.push(...condition.items);
  return step.set("run", `echo ${quoted(reason)} >&2\nexit 1`);
};

/** Reports whether later steps may need a step that the importer could not translate. */
export const isNeeded = ({ kind, action, token }: ReadStep, mark: string, source: Source): boolean => {
  const mayFail = find(token, "continue-on-error");
  if (mayFail && tokenText(mayFail, source) === "true") return false;
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
