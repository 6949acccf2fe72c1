import { overridesRefused } from "../domain/compose.ts";
import { refusedInRun } from "../domain/env-names.ts";
import { byteSize } from "../protocol/limits.ts";
import { type FieldError, invalidFields, Refusal } from "./core/refusal.ts";

type Variables = Parameters<typeof overridesRefused>[0];

/**
 * Checks the `envVariables` of runs against the variables of the builds' scopes.
 * @throws Refusal invalid, naming each key that a run may not set; too-large
 */
export const checkRunVariables = (run: Record<string, string>, variables: Variables, mostBytes: number): void => {
  const errors: FieldError[] = Object.keys(run)
    .filter(refusedInRun)
    .map((key) => ({
      pointer: `/envVariables/${key}`,
      detail: "could run code before a step does: set it as a variable",
    }));
  for (const key of overridesRefused(variables, run)) {
    errors.push({ pointer: `/envVariables/${key}`, detail: "is a variable that a run may not override" });
  }
  if (errors.length > 0) throw invalidFields(errors);
  if (new TextEncoder().encode(JSON.stringify(run)).length > mostBytes) {
    throw new Refusal("too-large", `The \`envVariables\` of a build may have at most ${byteSize(mostBytes)}.`);
  }
};
