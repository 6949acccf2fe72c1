import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { LocatedMistake, type Mistake } from "../mistake.ts";
import type { JobDefinition, Plan } from "../parse/plan.ts";
import { planOfJob } from "../parse/plan-contents.ts";
import type { JobContext, JobState } from "./job-context.ts";
import { StepEnvironment } from "./step-environment.ts";

/**
 * The outputs of a job, and the names of the outputs that are derived from a secret. If an output cannot be computed,
 * the reason replaces them.
 */
type JobOutputs =
  | { outputs: Record<string, string>; fromSecrets: string[]; mistake?: undefined }
  | { outputs?: undefined; fromSecrets?: undefined; mistake: Mistake };

const utf8Bytes = (text: string): number => new TextEncoder().encode(text).byteLength;

/** Evaluates the outputs of a job after its last step. `plan` is the plan of the whole file. */
export const outputsOfJob = (
  plan: Plan,
  definition: JobDefinition,
  context: JobContext,
  state: JobState,
): JobOutputs => {
  const pairs: [string, string][] = [];
  const fromSecrets: string[] = [];
  let bytes = 0;
  try {
    const own = planOfJob(plan, definition);
    const environment = new StepEnvironment(own, context, state);
    environment.setAll(own.env);
    for (const [key, value] of Object.entries(state.env)) environment.set(key, value);
    for (const { name, value, position } of definition.outputs) {
      const { text, isSecret } = environment.render(value);
      bytes += utf8Bytes(name) + utf8Bytes(text);
      if (!text.isWellFormed())
        throw new LocatedMistake({ ...position, message: `The output \`${name}\` is not valid Unicode` });
      if (bytes > LIMITS.outputBytes) {
        const most = withCommas(LIMITS.outputBytes);
        throw new LocatedMistake({ ...position, message: `With \`${name}\` the outputs have more than ${most} bytes` });
      }
      if (isSecret) fromSecrets.push(name);
      pairs.push([name, text]);
    }
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    return { mistake: error.mistake };
  }
  return { outputs: Object.fromEntries(pairs), fromSecrets };
};
