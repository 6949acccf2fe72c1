import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { outputsOfJob } from "../../pipeline/prepare/job-outputs.ts";
import type { JobState } from "../../pipeline/prepare/job-state.ts";
import { formatMistake } from "../../pipeline/yaml/mistake.ts";
import { BuildFailure } from "./failure.ts";
import type { PlanRead } from "./read-plan.ts";

/**
 * What the jobs that need this one get. `mask` changes every text that has a secret in it.
 * @throws BuildFailure output-refused with the name of the output
 */
export const outputsOf = (
  { file, whole, definition }: Pick<PlanRead, "file" | "whole" | "definition">,
  facts: JobContext,
  state: JobState,
  mask: (text: string) => string,
): Record<string, string> => {
  if (definition === null) return {};
  const { outputs, fromSecrets, mistake } = outputsOfJob(whole, definition, facts, state);
  if (mistake) throw new BuildFailure("output-refused", formatMistake(file, mistake));
  const secret = Object.entries(outputs).find(([name, text]) => fromSecrets.includes(name) || mask(text) !== text);
  if (!secret) return outputs;
  throw new BuildFailure(
    "output-refused",
    `The output ${secret[0]} has a secret in it: pass secrets by variables, which each job that needs them gets`,
  );
};
